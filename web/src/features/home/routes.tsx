import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    component: lazyRouteComponent(chunk(() => import('./HomePage'))),
  }),
] as const;
