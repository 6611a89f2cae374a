import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const builderRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/build',
    component: lazyRouteComponent(chunk(() => import('./BuilderPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/versions',
    component: lazyRouteComponent(chunk(() => import('./VersionsPage'))),
  }),
] as const;
