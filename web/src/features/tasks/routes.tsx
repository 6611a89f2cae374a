import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';
import { type Filters, parseFilters } from './filters';

/** The list's filters, and the task that the side panel shows. */
export interface TasksSearch extends Filters {
  open?: number;
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
    component: lazyRouteComponent(chunk(() => import('./WaitingPage'))),
  }),
] as const;
