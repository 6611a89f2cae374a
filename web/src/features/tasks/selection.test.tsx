import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { consoleAPI } from '@/testing/claimPage';
import { parseFilters } from './filters';
import TasksPage from './TasksPage';

vi.mock('@/features/pipelines/PipelineFrame', () => ({
  PipelineFrame: (p: { children: React.ReactNode }) => p.children,
}));

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);
const task = (id: number, since = '') => ({
  id,
  status: 'pending',
  held: false,
  priority: 0,
  at: since ? [{ node: 'solve', title: 'Solve', kind: 'subtask', status: 'claimed', person: null, since }] : [],
  created_at: '',
  version: 1,
});

/**
 * What the server was asked for beyond the first page, which says that there is more, and how it answers; and from when
 * on the list was to have tasks.
 */
function server() {
  const later: { cursor: string | null; after: string | null; answer: (page: unknown) => void }[] = [];
  const listed: (string | null)[] = [];
  const claimed = { since: '' };
  const list = (_: unknown, search: URLSearchParams) => {
    const after = search.get('created_after');
    // The page itself asks for less at once than who selects all that match.
    if (search.get('limit') !== '200') {
      listed.push(after);
      return { tasks: [task(1), task(2, claimed.since)], next_cursor: 'more' };
    }
    return new Promise((answer) => later.push({ cursor: search.get('cursor'), after, answer }));
  };
  const bulk: { task_ids: number[]; as_of?: string }[] = [];
  let done = (_left: number[]) => {};
  consoleAPI({
    'GET /pipelines/3/tasks': list,
    'GET /pipelines/4/tasks': list,
    'POST /pipelines/3/tasks/bulk': (body) => {
      const request = body as (typeof bulk)[number];
      const { task_ids } = request;
      bulk.push(request);
      return new Promise((resolve) => {
        done = (left) => resolve({ done: task_ids.filter((id) => !left.includes(id)), failed: [], left });
      });
    },
  });
  return { later, listed, claimed, bulk, done: (left: number[] = []) => done(left) };
}

function show(path = '/pipelines/3/tasks?status=pending') {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'shell' });
  const page = createRoute({
    getParentRoute: () => shell,
    path: 'pipelines/$pipelineId/tasks',
    component: TasksPage,
    validateSearch: (raw: Record<string, unknown>) => ({ ...parseFilters(raw), open: raw.open }),
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: [path] }),
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
  return (to: string | -1) => act(async () => (to === -1 ? router.history.back() : router.history.push(to)));
}

const selected = () => screen.queryByRole('region', { name: 'Selected tasks' })?.textContent;
/** The box of the table's head. */
const selectLoaded = async () => userEvent.click(await screen.findByRole('checkbox', { name: /every task/ }));

test.each([
  ['filters', '/pipelines/3/tasks?status=failed'],
  ['pipeline', '/pipelines/4/tasks?status=pending'],
])('other %s select nothing, nor does going back to the first', async (_, elsewhere) => {
  server();
  const go = show();
  await selectLoaded();
  expect(selected()).toContain('2 tasks selected');
  await go(elsewhere);
  expect(selected()).toBeUndefined();
  await selectLoaded();
  await go(-1);
  expect(selected()).toBeUndefined();
});

test('the side panel of a task leaves the selection alone', async () => {
  server();
  const go = show();
  await selectLoaded();
  await go('/pipelines/3/tasks?status=pending&open=1');
  expect(selected()).toContain('2 tasks selected');
});

test('selecting all that match ends with the filters it began under', async () => {
  const { later } = server();
  const go = show();
  await selectLoaded();
  await userEvent.click(screen.getByRole('button', { name: 'Select all that match' }));
  await waitFor(() => expect(later).toHaveLength(1));
  await go('/pipelines/3/tasks?status=failed');
  await selectLoaded();
  await act(async () => later[0]?.answer({ tasks: [task(7), task(8), task(9)], next_cursor: 'further' }));
  expect(selected()).toContain('2 tasks selected');
  expect(later).toHaveLength(1);
});

test('all that match are those of the list that is shown, however long ago it came', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T09:00:30Z') });
  const { later, listed } = server();
  show('/pipelines/3/tasks?age=1h');
  await selectLoaded();
  vi.setSystemTime(Date.parse('2026-11-21T18:00:30Z'));
  await userEvent.click(screen.getByRole('button', { name: 'Select all that match' }));
  await waitFor(() => expect(later).toHaveLength(1));
  expect(listed[0]).toBe('2026-11-21T08:00:00.000Z');
  expect(listed).toContain(later[0]?.after);
});

test('a bulk action that runs keeps its dialog on the page', async () => {
  const { bulk, done } = server();
  const go = show();
  await selectLoaded();
  await userEvent.click(screen.getByRole('button', { name: 'Hold…' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Hold: 2 tasks' }));
  await waitFor(() => expect(bulk.map((b) => b.task_ids)).toEqual([[1, 2]]));
  await go('/pipelines/3/tasks?status=failed');
  expect(screen.getByRole('button', { name: 'Stop' })).toBeDefined();
  await act(async () => done());
  expect(await screen.findByText('2 of 2 tasks: 2 done')).toBeDefined();
});

test('what a bulk action left can be gone on with, and stays selected', async () => {
  const { bulk, done } = server();
  show();
  await selectLoaded();
  await userEvent.click(screen.getByRole('button', { name: 'Hold…' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Hold: 2 tasks' }));
  await waitFor(() => expect(bulk).toHaveLength(1));
  await act(async () => done([2]));
  expect(await screen.findByText('1 of 2 tasks: 1 done, 1 left')).toBeDefined();
  await userEvent.click(screen.getByRole('button', { name: 'Go on with 1' }));
  await waitFor(() => expect(bulk.map((b) => b.task_ids)).toEqual([[1, 2], [2]]));
  await act(async () => done([2]));
  await userEvent.click(await screen.findByRole('button', { name: 'Close' }));
  await waitFor(() => expect(selected()).toContain('1 task selected'));
});

test('releasing claims names those that were listed when it was chosen, also when it goes on', async () => {
  const { bulk, claimed, listed, done } = server();
  claimed.since = '2026-11-21T08:00:00.25Z';
  show();
  await selectLoaded();
  await userEvent.click(screen.getByRole('button', { name: 'Release claims…' }));
  claimed.since = '2026-11-21T09:00:00Z';
  await userEvent.click(await screen.findByRole('button', { name: 'Release: 2 tasks' }));
  await waitFor(() => expect(bulk).toHaveLength(1));
  const before = listed.length;
  await act(async () => done([2]));
  await waitFor(() => expect(listed.length).toBeGreaterThan(before));
  await userEvent.click(await screen.findByRole('button', { name: 'Go on with 1' }));
  await waitFor(() => expect(bulk).toHaveLength(2));
  expect(bulk.map((b) => b.as_of)).toEqual(['2026-11-21T08:00:00.251Z', '2026-11-21T08:00:00.251Z']);
  await act(async () => done([]));
});
