import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emptyDefinition } from '@/pipeline/definition';
import type { Doc } from '@/pipeline/history';
import { consoleAPI, Refused } from '@/testing/claimPage';
import type { Draft } from '../queries';
import { opened } from './draft';
import { recall } from './mirror';
import { startOf } from './start';
import { useDraft } from './useDraft';

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const doc = (name: string): Doc => ({ definition: emptyDefinition(name), layout: {} });
const user = 1;
const path = '/pipelines/3/draft';

interface Sent {
  definition: Doc['definition'];
  layout: Doc['layout'];
  revision: number;
}

/** A server that keeps one draft, and what was sent to it. */
function server() {
  const at = '2026-11-20T10:00:00Z';
  const kept = { draft: doc('r1').definition, layout: {} as unknown, revision: 1, updated_at: at };
  const sent: Sent[] = [];
  const save = (body: unknown) => {
    const { definition, layout, revision } = body as Sent;
    sent.push(body as Sent);
    if (revision !== kept.revision) throw new Refused(409, 'the draft was saved by Ada');
    Object.assign(kept, { draft: definition, layout, revision: revision + 1 });
    return { revision: kept.revision, updated_at: at };
  };
  const routes = consoleAPI({ [`PUT ${path}`]: save, 'GET /pipelines/3': () => ({ id: 3, ...kept }) });
  return { kept, sent, save, routes };
}

function start(shown: Doc, first = opened({ revision: 1, doc: doc('r1'), by: null, at: null }), polled?: Draft) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: React.ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return renderHook((now: Doc) => useDraft(3, user, now, first, polled), { wrapper, initialProps: shown });
}

const names = (sent: Sent[]) => sent.map((s) => s.definition.name);

/** The next save comes through and its answer does not. */
function loseAnswer({ routes, save }: ReturnType<typeof server>) {
  routes[`PUT ${path}`] = (body) => {
    save(body);
    routes[`PUT ${path}`] = save;
    throw new Refused(0);
  };
}

test('two that wait for the same save do not save against each other', async () => {
  const { routes, save, sent } = server();
  let answer = () => {};
  const opens = new Promise<void>((resolve) => {
    answer = resolve;
  });
  routes[`PUT ${path}`] = async (body) => {
    await opens;
    return save(body);
  };
  const draft = start(doc('a'));
  let all: Promise<boolean[]> = Promise.resolve([]);
  act(() => {
    all = Promise.all([draft.result.current.flush(), draft.result.current.flush(), draft.result.current.flush()]);
  });
  draft.rerender(doc('b'));
  await act(async () => {
    answer();
    expect(await all).toEqual([true, true, true]);
  });
  expect(names(sent)).toEqual(['a', 'b']);
  expect(draft.result.current.chip).toBe('saved');
});

test('a save whose answer got lost is nobody else’s', async () => {
  const it = server();
  loseAnswer(it);
  const draft = start(doc('a'));
  await act(async () => expect(await draft.result.current.flush()).toBe(false));
  expect(draft.result.current.chip).toBe('offline');
  draft.rerender(doc('b'));
  await act(async () => expect(await draft.result.current.flush()).toBe(true));
  expect(draft.result.current.theirs).toBeNull();
  expect(it.sent.map((s) => [s.definition.name, s.revision])).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
});

test('a save that comes through only after the next was sent is nobody else’s, too', async () => {
  const it = server();
  it.routes[`PUT ${path}`] = (body) => {
    // A proxy gave up on it and still has it.
    it.routes[`PUT ${path}`] = (next) => {
      it.save(body);
      it.routes[`PUT ${path}`] = it.save;
      return it.save(next);
    };
    throw new Refused(504);
  };
  const draft = start(doc('a'));
  await act(async () => expect(await draft.result.current.flush()).toBe(false));
  draft.rerender(doc('b'));
  await act(async () => expect(await draft.result.current.flush()).toBe(true));
  expect(names(it.sent)).toEqual(['a', 'b', 'b']);
  expect(draft.result.current.theirs).toBeNull();
});

test('what somebody else saved after a lost answer is theirs', async () => {
  const it = server();
  loseAnswer(it);
  const draft = start(doc('a'));
  await act(() => draft.result.current.flush());
  Object.assign(it.kept, { draft: doc('theirs').definition, revision: 3 });
  await act(async () => expect(await draft.result.current.flush()).toBe(false));
  expect(draft.result.current.theirs?.doc.definition.name).toBe('theirs');
  expect(names(it.sent)).toEqual(['a']);
});

test('without a connection the server is asked again and again, and nothing is sent twice unasked', async () => {
  const it = server();
  loseAnswer(it);
  const draft = start(doc('a'));
  await act(() => draft.result.current.flush());
  const { 'GET /pipelines/3': get } = it.routes;
  it.routes['GET /pipelines/3'] = () => {
    throw new Refused(0);
  };
  await act(async () => expect(await draft.result.current.flush()).toBe(false));
  expect(draft.result.current.chip).toBe('offline');
  it.routes['GET /pipelines/3'] = get as never;
  await act(async () => expect(await draft.result.current.flush()).toBe(true));
  expect(names(it.sent)).toEqual(['a']);
  expect(draft.result.current.chip).toBe('saved');
});

test('a lost answer is remembered across a reload', async () => {
  const it = server();
  loseAnswer(it);
  const before = start(doc('a'));
  await act(() => before.result.current.flush());
  before.rerender(doc('b'));
  before.unmount();
  const saved = { revision: 2, doc: doc('a'), by: 'Ada', at: null };
  const again = startOf(recall(user, 3), saved, true);
  if (!again) throw new Error('it waits');
  const after = start(again.doc, again.draft);
  expect(after.result.current.theirs).toBeNull();
  await act(async () => expect(await after.result.current.flush()).toBe(true));
  await waitFor(() => expect(after.result.current.chip).toBe('saved'));
  expect(it.kept.draft.name).toBe('b');
});

test('a server that refuses to say what it has is asked again only after an edit', async () => {
  const it = server();
  loseAnswer(it);
  const shown = doc('a');
  const draft = start(shown);
  await act(() => draft.result.current.flush());
  const { 'GET /pipelines/3': get } = it.routes;
  const asked = vi.fn(() => {
    throw new Refused(403, 'you are no admin');
  });
  it.routes['GET /pipelines/3'] = asked;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await act(() => draft.result.current.flush());
  expect(draft.result.current).toMatchObject({ chip: 'refused', error: { status: 403 } });
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(asked).toHaveBeenCalledOnce();
  it.routes['GET /pipelines/3'] = get as never;
  draft.rerender(doc('b'));
  await act(() => vi.advanceTimersByTimeAsync(800));
  vi.useRealTimers();
  await waitFor(() => expect(it.kept.draft.name).toBe('b'));
});

test('a tab with nothing to save does not take away what another one has not saved', async () => {
  const it = server();
  it.routes[`PUT ${path}`] = () => {
    throw new Refused(0);
  };
  const [typing, idle] = [start(doc('typed')), start(doc('r1'))];
  await act(() => typing.result.current.flush());
  idle.rerender(doc('r1'));
  idle.unmount();
  expect(recall(user, 3)?.doc.definition.name).toBe('typed');
  start(doc('other'));
  expect(Object.keys(localStorage)).toHaveLength(2);
});

test('of what somebody else saved nothing is lost where nothing was changed here', async () => {
  const it = server();
  const theirs = { id: 3, ...it.kept, draft: doc('theirs').definition, revision: 2 } as unknown as Draft;
  const draft = start(doc('r1'), undefined, theirs);
  await waitFor(() => expect(draft.result.current.chip).toBe('conflict'));
  expect(draft.result.current.unsaved).toBe(false);
  draft.rerender(doc('mine'));
  expect(draft.result.current.unsaved).toBe(true);
});
