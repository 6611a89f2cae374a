import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';

export const keysRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/orgs/$orgId/keys',
    component: lazyRouteComponent(() => import('./KeysPage')),
  }),
] as const;
