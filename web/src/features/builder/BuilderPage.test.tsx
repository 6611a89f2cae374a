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
import { useEffect } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { emptyDefinition } from '@/pipeline/definition';
import type { Doc } from '@/pipeline/history';
import { consoleAPI, Refused } from '@/testing/claimPage';
import BuilderPage from './BuilderPage';
import type { DraftState } from './state/draft';
import { keep, recall } from './state/mirror';

vi.mock('@/features/pipelines/PipelineFrame', () => ({
  PipelineFrame: (p: { children: React.ReactNode }) => p.children,
}));
const room = vi.hoisted(() => ({ full: false }));
vi.mock('./Builder', () => ({
  Builder: ({ first, doc }: { first: DraftState; doc: Doc }) => {
    useEffect(() => {
      if (!room.full) keep(1, 3, 'this', { revision: first.base.revision, doc, at: Date.now() });
    });
    return (
      <p>
        {doc.definition.name} from {first.base.revision}
      </p>
    );
  },
}));

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);
const draft = (name: string, revision: number) => ({ id: 3, draft: emptyDefinition(name), layout: {}, revision });
const kept = (name: string, revision: number) =>
  keep(1, 3, 'before', { revision, doc: { definition: emptyDefinition(name), layout: {} }, at: Date.now() });

/** The page, with an answer in the cache as it is when somebody comes back to it. */
function show(cached: object) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(['getPipeline', 3], cached);
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'shell' });
  const page = createRoute({
    getParentRoute: () => shell,
    path: 'pipelines/$pipelineId/build',
    component: BuilderPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: ['/pipelines/3/build'] }),
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

test('what was kept after a save is not dropped for an answer from before it', async () => {
  consoleAPI({ 'GET /pipelines/3': () => draft('saved', 5) });
  kept('typed', 5);
  show(draft('old', 4));
  expect(await screen.findByText('typed from 5')).toBeDefined();
});

test('while the server is away, what was kept after a save waits for it', async () => {
  const routes = consoleAPI({
    'GET /pipelines/3': () => {
      throw new Refused(0);
    },
  });
  kept('typed', 5);
  show(draft('old', 4));
  const again = await screen.findByText('Try again');
  expect(recall(1, 3)?.doc.definition.name).toBe('typed');
  routes['GET /pipelines/3'] = () => draft('saved', 5);
  again.click();
  expect(await screen.findByText('typed from 5')).toBeDefined();
});

test('what was kept stands against a server that went back, and a person decides', async () => {
  consoleAPI({ 'GET /pipelines/3': () => draft('backup', 2) });
  kept('typed', 5);
  show(draft('old', 4));
  expect(await screen.findByText('typed from 1')).toBeDefined();
});

test('what came back from another page is this one’s, and what a third one left comes the next time', async () => {
  consoleAPI({ 'GET /pipelines/3': () => draft('saved', 5) });
  const left = (page: string, at: number) =>
    keep(1, 3, page, { revision: 5, doc: { definition: emptyDefinition(page), layout: {} }, at });
  left('older', 1);
  left('newer', 2);
  show(draft('saved', 5));
  expect(await screen.findByText('newer from 5')).toBeDefined();
  expect(Object.keys(localStorage).sort()).toEqual(['taskloom.builder.1.3@older', 'taskloom.builder.1.3@this']);
});

test('what came back is not dropped where there is no room for another copy', async () => {
  consoleAPI({ 'GET /pipelines/3': () => draft('saved', 5) });
  kept('typed', 5);
  room.full = true;
  show(draft('saved', 5));
  expect(await screen.findByText('typed from 5')).toBeDefined();
  room.full = false;
  expect(recall(1, 3)?.doc.definition.name).toBe('typed');
});
