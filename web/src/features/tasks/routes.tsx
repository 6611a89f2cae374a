import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';
import { type Filters, parseFilters } from './filters';

/** The list's filters, and the task that the side panel shows. */
export interface TasksSearch extends Filters {
  open?: number;
}

/** Which of what waits for an admin is listed; all of it without one. */
export interface WaitingSearch {
  status?: 'escalated' | 'quarantined';
}

export const tasksRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/tasks',
    validateSearch: (raw: Record<string, unknown>): TasksSearch => {
      const open = Number(raw.open);
      return Number.isSafeInteger(open) && open > 0 ? { ...parseFilters(raw), open } : parseFilters(raw);
    },
    component: lazyRouteComponent(chunk(() => import('./TasksPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/tasks/$taskId',
    component: lazyRouteComponent(chunk(() => import('./TaskPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/waiting',
    validateSearch: ({ status }: Record<string, unknown>): WaitingSearch =>
      status === 'escalated' || status === 'quarantined' ? { status } : {},
    component: lazyRouteComponent(chunk(() => import('./WaitingPage'))),
  }),
] as const;
