import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';

export const pipelinesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects',
    component: lazyRouteComponent(() => import('./ProjectsPage')),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects/$projectId',
    validateSearch: (s: Record<string, unknown>): { archived?: boolean } =>
      s.archived === true || s.archived === 'true' ? { archived: true } : {},
    component: lazyRouteComponent(() => import('./ProjectPage')),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId',
    component: lazyRouteComponent(() => import('./PipelinePage')),
  }),
] as const;
