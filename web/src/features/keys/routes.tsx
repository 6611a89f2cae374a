import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const keysRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/orgs/$orgId/keys',
    component: lazyRouteComponent(chunk(() => import('./KeysPage'))),
  }),
] as const;
