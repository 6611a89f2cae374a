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
import { afterEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { offerNext } from '@/features/work/NextToast';
import QueuePage from '@/features/work/QueuePage';
import { queueSearch } from '@/features/work/search';
import { consoleAPI, sampleReview } from '@/testing/claimPage';

vi.mock('@/features/pipelines/PipelineFrame', () => ({
  PipelineFrame: (p: { children: React.ReactNode }) => p.children,
}));
vi.mock('@/features/work/NextToast', () => ({ offerNext: vi.fn() }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);
const review = (task_id: number, id: number, name: string) => ({
  task_id,
  contributor: { id, name, email: `${name}@x` },
  node: 'check',
  title: 'Check',
  iteration: 1,
  claimed: false,
  mine: false,
  since: '2026-01-01T00:00:00Z',
});
const waiting = [review(11, 7, 'Ana'), review(12, 8, 'Ben')];

/** The queue of reviews at an address, and the way from there. */
function show(search: string) {
  const routes = consoleAPI({
    'GET /queues': () => ({ queues: [] }),
    'GET /claims': () => ({ claims: [] }),
    'GET /history': () => ({ submissions: [], next_cursor: null }),
    'GET /pipelines/3/queue': () => ({ available: 2, returned: 0, reasons: [] }),
    'GET /pipelines/3/reviews': (_, asked) => {
      const only = asked.get('contributor');
      const reviews = waiting.filter((r) => only === null || String(r.contributor.id) === only);
      return { reviews, next_cursor: null };
    },
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute();
  const router = createRouter({
    routeTree: root.addChildren([
      createRoute({
        getParentRoute: () => root,
        path: '/pipelines/$pipelineId/work',
        validateSearch: queueSearch,
        component: QueuePage,
      }),
      createRoute({ getParentRoute: () => root, path: '/claims/$claimId', component: () => <h1>A claim</h1> }),
    ]),
    history: createMemoryHistory({ initialEntries: [`/pipelines/3/work?role=reviewer${search}`] }),
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
  const go = (to: string | -1) => act(async () => (to === -1 ? router.history.back() : router.history.push(to)));
  return { go, router, routes };
}

const tasks = () => screen.queryAllByRole('article').map((row) => row.getAttribute('aria-label'));

test('the order and the contributor that are chosen stand after the way back', async () => {
  const { go } = show('');
  await userEvent.click(await screen.findByText('By contributor'));
  await screen.findByRole('article', { name: 'Check of task 12' });
  await userEvent.click(screen.getByPlaceholderText('Everybody’s work'));
  await userEvent.click(await screen.findByRole('option', { name: 'Ana', hidden: true }));
  await screen.findByRole('button', { name: 'Next of Ana' });
  await go('/claims/c9');
  await screen.findByRole('heading', { name: 'A claim' });
  await go(-1);
  expect(await screen.findByRole('button', { name: 'Next of Ana' })).toBeDefined();
  expect(screen.getByRole('radio', { name: 'By contributor' })).toHaveProperty('checked', true);
  expect(tasks()).toEqual(['Check of task 11']);
});

test('an address of somebody without work says so, and leads to everybody', async () => {
  show('&contributor=9');
  expect(await screen.findByText('Nothing of this person waits for a review now.')).toBeDefined();
  expect(screen.getByPlaceholderText('Everybody’s work')).toHaveProperty('value', 'person 9');
  await userEvent.click(screen.getByRole('button', { name: 'Show everybody’s work' }));
  await screen.findByRole('article', { name: 'Check of task 12' });
  expect(tasks()).toEqual(['Check of task 11', 'Check of task 12']);
});

test.each([
  ['the next review', 'Start the next review'],
  ['a certain review', 'Review task 11'],
])('who went elsewhere before %s was claimed stays there and is offered it', async (_, name) => {
  const { go, router, routes } = show('');
  let give = (_: unknown) => {};
  const late = new Promise((resolve) => {
    give = resolve;
  });
  const claim = vi.fn(() => late);
  routes['POST /pipelines/3/claim'] = claim;
  await userEvent.click(await screen.findByRole('button', { name }));
  await waitFor(() => expect(claim).toHaveBeenCalledOnce());
  await go('/claims/c9');
  await screen.findByRole('heading', { name: 'A claim' });
  give(sampleReview({ claim_id: 'c2', task_id: 11 }));
  await waitFor(() => expect(offerNext).toHaveBeenCalledOnce());
  expect(vi.mocked(offerNext).mock.calls[0]?.[0]).toContain('Task 11');
  expect(router.state.location.pathname).toBe('/claims/c9');
  act(() => vi.mocked(offerNext).mock.calls[0]?.[1]());
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
});
