import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { chunk } from '@/lib/chunk';
import { NotFound, RouteError } from './errors';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: RouteError,
});

/** Everything behind the login has this parent: the shell, which holds the session. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: lazyRouteComponent(chunk(() => import('./Shell'))),
  pendingComponent: () => null,
  errorComponent: RouteError,
});
