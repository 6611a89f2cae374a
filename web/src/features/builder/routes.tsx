import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';

export const builderRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/build',
    component: lazyRouteComponent(() => import('./BuilderPage')),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/versions',
    component: lazyRouteComponent(() => import('./VersionsPage')),
  }),
] as const;
