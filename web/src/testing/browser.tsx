import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { configure, render } from '@testing-library/react';
import { onTestFinished, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { ConfirmDialogs } from '@/ui/ConfirmDialog';

// Whole pages, on machines that do other things, too.
configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });

const acme = { id: 1, name: 'Acme', slug: 'acme', role: 'org_admin' as const };
const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [acme] }, []);

/** Shows a page to an org admin, in the browser's own history; Back leads home. The path is that of its route. */
export function showAt(address: string, page: () => React.ReactNode, path = address) {
  window.history.replaceState(null, '', '/');
  const history = createBrowserHistory();
  history.push(address);
  onTestFinished(() => history.destroy());
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'shell' });
  const router = createRouter({
    routeTree: root.addChildren([
      shell.addChildren([createRoute({ getParentRoute: () => shell, path, component: page })]),
      createRoute({ getParentRoute: () => root, path: '/', component: () => <h1>Home</h1> }),
    ]),
    history,
  });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <MeProvider value={ada}>
          <ConfirmDialogs />
          <RouterProvider router={router as never} />
        </MeProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return queries;
}

/** Presses Back, and waits until the browser went there; what blocks it leads here again after that. */
export async function back() {
  const went = new Promise((done) => window.addEventListener('popstate', done, { once: true }));
  window.history.back();
  await went;
}

/** Whether the browser asks before a reload and before the tab is closed. */
export function asksBeforeUnload(): boolean {
  const unload = new Event('beforeunload', { cancelable: true });
  window.dispatchEvent(unload);
  return unload.defaultPrevented;
}
