import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';
import { queueSearch } from './search';

export const workRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/work',
    component: lazyRouteComponent(chunk(() => import('./QueuesPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/work',
    validateSearch: queueSearch,
    component: lazyRouteComponent(chunk(() => import('./QueuePage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/claims/$claimId',
    component: lazyRouteComponent(chunk(() => import('./ClaimPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/history',
    validateSearch: (search: Record<string, unknown>): { pipeline?: number } => {
      const pipeline = Number(search.pipeline);
      return Number.isSafeInteger(pipeline) && pipeline > 0 ? { pipeline } : {};
    },
    component: lazyRouteComponent(chunk(() => import('./HistoryPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/history/$submissionId',
    component: lazyRouteComponent(chunk(() => import('./SubmissionPage'))),
  }),
] as const;
