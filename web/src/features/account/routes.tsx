import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/account',
    component: lazyRouteComponent(chunk(() => import('./AccountPage'))),
  }),
] as const;
