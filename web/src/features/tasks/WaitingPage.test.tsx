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
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { consoleAPI } from '@/testing/claimPage';
import WaitingPage from './WaitingPage';

vi.mock('@/features/pipelines/PipelineFrame', () => ({
  PipelineFrame: (p: { children: React.ReactNode }) => p.children,
}));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);
const node = (task_id: number, status: string) => ({ task_id, status, node: 'solve', reason: '', since: '' });

test('the status that is chosen stands in the address', async () => {
  consoleAPI({
    'GET /pipelines/3/waiting': () => ({ nodes: [node(11, 'escalated'), node(12, 'quarantined')] }),
  });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'shell' });
  const page = createRoute({
    getParentRoute: () => shell,
    path: 'pipelines/$pipelineId/waiting',
    component: WaitingPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: ['/pipelines/3/waiting?status=escalated'] }),
  });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <MeProvider value={ada}>
          <RouterProvider router={router as never} />
        </MeProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  const tasks = () => screen.queryAllByRole('article').map((row) => row.getAttribute('aria-label'));
  await screen.findByText('All 2');
  expect(tasks()).toEqual(['solve of task 11']);
  await userEvent.click(screen.getByText('Quarantined 1'));
  await screen.findByRole('article', { name: 'solve of task 12' });
  expect(tasks()).toEqual(['solve of task 12']);
  expect(router.state.location.search).toEqual({ status: 'quarantined' });
  await userEvent.click(screen.getByText('All 2'));
  await screen.findByRole('article', { name: 'solve of task 11' });
  expect(router.state.location.search).toEqual({});
});
