import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/orgs/$orgId/members',
    component: lazyRouteComponent(chunk(() => import('./OrgMembersPage'))),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects/$projectId/members',
    component: lazyRouteComponent(chunk(() => import('./ProjectMembersPage'))),
  }),
] as const;
