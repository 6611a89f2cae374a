import { createRouter } from '@tanstack/react-router';
import { accountRoutes } from '@/features/account/routes';
import { builderRoutes } from '@/features/builder/routes';
import { homeRoutes } from '@/features/home/routes';
import { keysRoutes } from '@/features/keys/routes';
import { peopleRoutes } from '@/features/people/routes';
import { pipelinesRoutes } from '@/features/pipelines/routes';
import { sessionRoutes } from '@/features/session/routes';
import { tasksRoutes } from '@/features/tasks/routes';
import { uploadsRoutes } from '@/features/uploads/routes';
import { workRoutes } from '@/features/work/routes';
import { PageSkeleton } from '@/ui/PageSkeleton';
import { NotFound, RouteError } from './errors';
import { rootRoute, shellRoute } from './root';

const tree = rootRoute.addChildren([
  ...sessionRoutes,
  shellRoute.addChildren([
    ...homeRoutes,
    ...accountRoutes,
    ...peopleRoutes,
    ...pipelinesRoutes,
    ...builderRoutes,
    ...workRoutes,
    ...tasksRoutes,
    ...uploadsRoutes,
    ...keysRoutes,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Inside the frame: a page that fails leaves the navigation standing.
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
