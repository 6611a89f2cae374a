import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { configure, render } from '@testing-library/react';
import { vi } from 'vitest';
import type { Work } from '@/api';
import { client } from '@/api/gen/client.gen';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import ClaimPage from '@/features/work/ClaimPage';

// Whole pages, on machines that do other things, too.
configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });

type Answer = (body: unknown, search: URLSearchParams) => unknown;

/** What a route throws to refuse; a status of 0 is no answer at all. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message = 'refused',
    readonly problems: { field?: string; path?: string; message: string }[] = [],
  ) {
    super(message);
  }
}

/** A console API that answers by "PUT /claims/c1/draft"; 404 to everything else. Change the routes as time goes on. */
export function consoleAPI(routes: Record<string, Answer>) {
  client.setConfig({ baseUrl: 'http://taskloom.test/api/console' });
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const answer = routes[`${request.method} ${pathname.replace('/api/console', '')}`];
    const text = await request.text();
    try {
      if (!answer) throw new Refused(404, 'there is no such thing');
      return Response.json((await answer(text ? JSON.parse(text) : undefined, searchParams)) ?? null);
    } catch (err) {
      if (!(err instanceof Refused) || err.status === 0) throw new TypeError('no connection');
      const { status, message, problems } = err;
      return Response.json({ error: 'api_error', message, problems }, { status });
    }
  });
  return routes;
}

/** A subtask with one question, or a review of its answer. */
export function sampleWork(change: Partial<Work> = {}): Work {
  const field = { name: 'answer', title: 'Answer', type: 'short_text', input: 'contributor' };
  return {
    claim_id: 'c1',
    comments: [],
    draft: null,
    earlier: [],
    fields: [field],
    files: [],
    instructions: '',
    iteration: 1,
    kind: 'subtask',
    lease_expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    node: 'solve',
    pipeline: 'Sums',
    pipeline_id: 3,
    project: 'P',
    reviewed: [],
    task_id: 12,
    title: 'Solve',
    undo_of: null,
    values: {},
    ...change,
  } as unknown as Work;
}

export function sampleReview(change: Partial<Work> = {}): Work {
  const reviewed = {
    node: 'solve',
    title: 'Solve',
    author: { id: 2, name: 'Ben', email: 'ben@x' },
    iteration: 1,
    earlier: [],
    fields: ['answer'],
    values: { answer: '41' },
  };
  return sampleWork({
    kind: 'review',
    node: 'check',
    title: 'Check',
    reviewed: [reviewed],
    ...change,
  } as Partial<Work>);
}

const ada = { id: 1, name: 'Ada', email: 'ada@x', orgs: [] };

/** The app around one claim: its page, its queue with a way back, and home. */
export function showClaim({ path = '/claims/c1', cached }: { path?: string; cached?: Work } = {}) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  if (cached) queries.setQueryData(['getClaim', cached.claim_id], cached);
  const root = createRootRoute({ component: Outlet });
  const page = (at: string, component: () => React.ReactNode) =>
    createRoute({ getParentRoute: () => root, path: at, component });
  const queue = () => (
    <>
      <h1>Queue</h1>
      <Link to={'/claims/c1' as string}>Go on</Link>
    </>
  );
  const router = createRouter({
    routeTree: root.addChildren([
      page('/claims/$claimId', ClaimPage),
      page('/pipelines/$pipelineId/work', queue),
      page('/', () => <h1>Home</h1>),
    ]),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <MeProvider value={belonging(ada as never, [])}>
          <RouterProvider router={router as never} />
        </MeProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { router, queries };
}
