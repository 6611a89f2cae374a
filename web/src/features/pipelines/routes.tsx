import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const pipelinesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects',
    component: lazyRouteComponent(chunk(() => import('./ProjectsPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects/$projectId',
    validateSearch: (s: Record<string, unknown>): { archived?: boolean } =>
      s.archived === true || s.archived === 'true' ? { archived: true } : {},
    component: lazyRouteComponent(chunk(() => import('./ProjectPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId',
    component: lazyRouteComponent(chunk(() => import('./PipelinePage'))),
  }),
] as const;
