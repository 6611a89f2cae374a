import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { chunk } from '@/lib/chunk';

export const uploadsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/pipelines/$pipelineId/uploads',
    /** The upload whose rows are open. */
    validateSearch: (raw: Record<string, unknown>): { open?: string } =>
      typeof raw.open === 'string' && /^[0-9a-f-]{36}$/i.test(raw.open) ? { open: raw.open } : {},
    component: lazyRouteComponent(chunk(() => import('./UploadsPage'))),
  }),
] as const;
