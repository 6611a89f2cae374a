import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/orgs/$orgId/members',
    component: lazyRouteComponent(() => import('./OrgMembersPage')),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects/$projectId/members',
    component: lazyRouteComponent(() => import('./ProjectMembersPage')),
  }),
] as const;
