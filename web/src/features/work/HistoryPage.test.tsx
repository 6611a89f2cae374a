import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import HistoryPage from '@/features/work/HistoryPage';
import { consoleAPI } from '@/testing/claimPage';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);

function show(next: string | null, total: number) {
  consoleAPI({
    'GET /history': () => ({ submissions: [], next_cursor: next }),
    'GET /progress': () => ({ today: 1, week: 2, total, accepted: 0, returned: 0, days: [] }),
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute();
  const router = createRouter({
    routeTree: root.addChildren([
      createRoute({ getParentRoute: () => root, path: '/history', component: HistoryPage }),
    ]),
    history: createMemoryHistory({ initialEntries: ['/history'] }),
  });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <MeProvider value={ada}>
          <RouterProvider router={router as never} />
        </MeProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

test('a page with nothing on it is not the end while older ones follow', async () => {
  show('further', 10_000);
  await screen.findByRole('button', { name: 'Show older ones' });
  expect(screen.queryByText('Nothing yet')).toBeNull();
  await screen.findByText('10,000+');
});

test('where nothing follows there is nothing', async () => {
  show(null, 9_999);
  await screen.findByText('Nothing yet');
  await screen.findByText('9,999');
});
