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

/** A server that lists so many nodes at most. */
function server(waiting: ReturnType<typeof node>[], limit = 200) {
  const of = (status: string) => waiting.filter((n) => n.status === status);
  consoleAPI({
    'GET /pipelines/3/counts': () => ({ escalated: of('escalated').length, quarantined: of('quarantined').length }),
    'GET /pipelines/3/waiting': (_, search) => {
      const status = search.get('status');
      return { nodes: (status === null ? waiting : of(status)).slice(0, limit) };
    },
  });
}

function show(path: string) {
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'shell' });
  const page = createRoute({
    getParentRoute: () => shell,
    path: 'pipelines/$pipelineId/waiting',
    component: WaitingPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: [path] }),
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
  return router;
}

const tasks = () => screen.queryAllByRole('article').map((row) => row.getAttribute('aria-label'));

test('the status that is chosen stands in the address', async () => {
  server([node(11, 'escalated'), node(12, 'quarantined')]);
  const router = show('/pipelines/3/waiting?status=escalated');
  await screen.findByText('All 2');
  await screen.findByRole('article', { name: 'solve of task 11' });
  expect(tasks()).toEqual(['solve of task 11']);
  await userEvent.click(screen.getByText('Quarantined 1'));
  await screen.findByRole('article', { name: 'solve of task 12' });
  expect(tasks()).toEqual(['solve of task 12']);
  expect(router.state.location.search).toEqual({ status: 'quarantined' });
  await userEvent.click(screen.getByText('All 2'));
  await screen.findByRole('article', { name: 'solve of task 11' });
  expect(router.state.location.search).toEqual({});
});

test('what the oldest fill the list before is told and shown by its status', async () => {
  server([node(11, 'escalated'), node(12, 'escalated'), node(13, 'quarantined')], 2);
  show('/pipelines/3/waiting');
  await screen.findByText('All 3');
  await screen.findByRole('article', { name: 'solve of task 12' });
  expect(tasks()).toEqual(['solve of task 11', 'solve of task 12']);
  await userEvent.click(screen.getByText('Quarantined 1'));
  await screen.findByRole('article', { name: 'solve of task 13' });
  expect(tasks()).toEqual(['solve of task 13']);
});

test('where nothing is of the status that is chosen, that is said', async () => {
  server([node(11, 'escalated')]);
  show('/pipelines/3/waiting?status=quarantined');
  await screen.findByText('Nothing is quarantined');
  await userEvent.click(screen.getByText('All 1'));
  await screen.findByRole('article', { name: 'solve of task 11' });
});
