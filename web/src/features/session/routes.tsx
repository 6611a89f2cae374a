import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const sessionRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login',
    /** Where to go afterwards; safeTarget judges it. */
    validateSearch: (search): { to?: string } => (typeof search.to === 'string' ? { to: search.to } : {}),
    component: lazyRouteComponent(chunk(() => import('./LoginPage'))),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invite',
    component: lazyRouteComponent(chunk(() => import('./InvitePage'))),
  }),
] as const;
