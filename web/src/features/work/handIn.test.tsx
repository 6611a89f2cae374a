import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Work } from '@/api';
import { queryClient } from '@/app/query';
import '@/features/review/ReviewWork'; // the page fetches it when it is needed: here it is there
import { consoleAPI, Refused, sampleReview, sampleWork, showClaim } from '@/testing/claimPage';
import { offerNext } from './NextToast';

vi.mock('./NextToast', () => ({ offerNext: vi.fn() }));

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

const answer = () => screen.findByLabelText<HTMLInputElement>(/Answer/);
const submit = () => userEvent.click(screen.getByRole('button', { name: /^Submit/ }));

/** A server whose answer to a submit comes when the test says so. */
function slow() {
  const server = { submits: [] as unknown[], answer: (_: unknown) => {} };
  const routes = consoleAPI({
    'GET /claims/c1': () => sampleWork(),
    'GET /claims/c2': () => sampleWork({ claim_id: 'c2', task_id: 13 }),
    'PUT /claims/c1/draft': (sent) => ({ revision: (sent as { revision: number }).revision + 1 }),
    'POST /claims/c1/submit': (sent) => {
      server.submits.push(sent);
      return new Promise((resolve, reject) => {
        server.answer = (with_) => (with_ instanceof Error ? reject(with_) : resolve(with_));
      });
    },
  });
  return { server, routes };
}
const done = { claim_id: 'c1', task_id: 12, node: 'solve', undo_until: null };

test('a hand-in never waits for a connection: it fails at once', () => {
  expect(queryClient.getDefaultOptions().mutations?.networkMode).toBe('always');
});

test('nothing can be typed that the submission on its way does not have', async () => {
  const { server } = slow();
  const { router } = showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toEqual([{ values: { answer: '42' }, draft_revision: 0 }]));
  expect((await answer()).disabled).toBe(true);
  server.answer({ ...done, next: sampleWork({ claim_id: 'c2', task_id: 13 }) });
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
  expect(offerNext).not.toHaveBeenCalled();
});

test('who went elsewhere meanwhile stays there and is offered the next task', async () => {
  const { server } = slow();
  const { router } = showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  act(() => router.history.push('/'));
  await screen.findByText('Home');
  server.answer({ ...done, next: sampleWork({ claim_id: 'c2', task_id: 13 }) });
  await waitFor(() => expect(offerNext).toHaveBeenCalledOnce());
  expect(vi.mocked(offerNext).mock.calls[0]?.[0]).toContain('Task 13');
  expect(router.state.location.pathname).toBe('/');
});

test('the next task opens as it is by then, not as it came with the answer', async () => {
  const { server, routes } = slow();
  const { router } = showClaim();
  await answer();
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  act(() => router.history.push('/'));
  await screen.findByText('Home');
  const next = sampleWork({ claim_id: 'c2', task_id: 13 });
  server.answer({ ...done, next });
  await waitFor(() => expect(offerNext).toHaveBeenCalledOnce());
  routes['GET /claims/c2'] = () => ({ ...next, draft: { values: { answer: 'phone' }, revision: 1 } });
  act(() => vi.mocked(offerNext).mock.calls[0]?.[1]());
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
  expect((await answer()).value).toBe('phone');
});

test('a submit that a server on its way down turned away is sent again without a click', async () => {
  const { server } = slow();
  const { router } = showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  server.answer(new Refused(503, 'not now'));
  await waitFor(() => expect(server.submits).toHaveLength(2));
  expect(server.submits[1]).toEqual(server.submits[0]);
  server.answer({ ...done, next: null });
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
});

test('a submit that was done and whose answer got lost is sent again as it was, and is no lost task', async () => {
  const { server, routes } = slow();
  const { router, queries } = showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  for (const route of ['GET /claims/c1', 'PUT /claims/c1/draft']) {
    routes[route] = () => {
      throw new Refused(409, 'your claim is over');
    };
  }
  server.answer(new Refused(502, 'a proxy gave up'));
  await screen.findByText('No answer to your submission yet');
  expect((await answer()).disabled).toBe(true);
  void queries.refetchQueries({ queryKey: ['getClaim', 'c1'] });
  await waitFor(() => expect(server.submits).toHaveLength(2));
  expect(server.submits[1]).toEqual(server.submits[0]);
  expect(screen.queryByText('This task is no longer yours')).toBeNull();
  server.answer({ ...done, next: null });
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
});

test('a submit without an answer can be tried again, or given up to change something', async () => {
  const { server } = slow();
  showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  server.answer(new Refused(500, 'the server failed'));
  await userEvent.click(await screen.findByText('Try again'));
  await waitFor(() => expect(server.submits).toHaveLength(2));
  server.answer(new Refused(500, 'the server failed'));
  await userEvent.click(await screen.findByText('Change something first'));
  expect((await answer()).disabled).toBe(false);
});

test('why a submit was refused stands there although the task is lost', async () => {
  const { server } = slow();
  showClaim();
  await userEvent.type(await answer(), '42');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  server.answer(new Refused(409, 'it was handed in already, with other content; that stands'));
  await screen.findByText('This task is no longer yours');
  expect(screen.getByText(/with other content; that stands/)).toBeDefined();
});

test('what the server did not keep of a submit that came too late comes back with the task', async () => {
  const { routes, server } = slow();
  routes['GET /claims/c1'] = () => sampleWork({ draft: { values: { answer: 'laptop' }, revision: 1 } as never });
  showClaim();
  expect((await answer()).value).toBe('laptop');
  await submit();
  await waitFor(() => expect(server.submits).toHaveLength(1));
  const over = () => {
    throw new Refused(409, 'your claim is over');
  };
  Object.assign(routes, { 'GET /claims/c1': over, 'POST /claims/c1/extend': over });
  server.answer(new Refused(409, 'this claim is over, and what you sent now is not kept'));
  await screen.findByText(/is not kept/);
  const other = { values: { answer: 'phone' }, revision: 2 } as never;
  routes['POST /pipelines/3/claim'] = () => sampleWork({ claim_id: 'c2', draft: other });
  await userEvent.click(await screen.findByText('Claim it again'));
  await screen.findByText('This was saved somewhere else, too');
  expect((await answer()).value).toBe('laptop');
});

/** A server with a draft that another device goes on with. */
function shared(work: Work = sampleWork()) {
  const server = {
    draft: { values: { answer: 'both' } as unknown, revision: 1, updated_at: '' },
    handedIn: [] as unknown[],
  };
  const take = (sent: unknown) => {
    if ((sent as { draft_revision: number }).draft_revision !== server.draft.revision)
      throw new Refused(409, 'your draft was saved elsewhere since');
    server.handedIn.push(sent);
    return { ...done, next: null };
  };
  const routes = consoleAPI({
    'GET /claims/c1': () => ({ ...work, draft: server.draft }),
    'PUT /claims/c1/draft': (sent) => {
      const { values, revision } = sent as { values: unknown; revision: number };
      if (revision !== server.draft.revision) throw new Refused(409, 'the draft was saved elsewhere');
      server.draft = { values, revision: revision + 1, updated_at: '' };
      return { revision: revision + 1 };
    },
    'POST /claims/c1/extend': () => ({ lease_expires_at: work.lease_expires_at }),
    'POST /claims/c1/submit': take,
    'POST /claims/c1/review': take,
  });
  const elsewhere = (answer: string) => {
    server.draft = { values: { answer }, revision: server.draft.revision + 1, updated_at: '' };
  };
  return { server, elsewhere, routes };
}

test('an old form is not handed in over what was written elsewhere since: both stand there to choose from', async () => {
  const { server, elsewhere } = shared();
  const { router } = showClaim();
  expect((await answer()).value).toBe('both');
  elsewhere('phone');
  await submit();
  await screen.findByText('This was saved somewhere else, too');
  expect((await answer()).value).toBe('both');
  expect(server.handedIn).toEqual([]);
  await userEvent.click(screen.getByText('Take what was saved there'));
  expect((await answer()).value).toBe('phone');
  expect(screen.queryByText(/saved elsewhere since/)).toBeNull();
  await submit();
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  expect(server.handedIn).toEqual([{ values: { answer: 'phone' }, draft_revision: 2 }]);
});

test('what was written elsewhere is told when the task is asked for again', async () => {
  const { elsewhere } = shared();
  const { queries } = showClaim();
  await answer();
  elsewhere('phone');
  await queries.refetchQueries({ queryKey: ['getClaim', 'c1'] });
  await waitFor(async () => expect((await answer()).value).toBe('phone'));
  await userEvent.type(await answer(), '!');
  elsewhere('phone again');
  await queries.refetchQueries({ queryKey: ['getClaim', 'c1'] });
  await screen.findByText('This was saved somewhere else, too');
  expect((await answer()).value).toBe('phone!');
});

test.each([
  ['submit', sampleWork(), /^Submit/],
  ['review', sampleReview(), /^Fix and accept/],
] as const)(
  'a %s without an answer is not repeated over what was written elsewhere since',
  async (what, work, button) => {
    const { server, elsewhere, routes } = shared(work);
    const route = `POST /claims/c1/${what}`;
    const { [route]: take } = routes;
    routes[route] = () => {
      throw new Refused(0);
    };
    const { queries } = showClaim();
    await userEvent.click(await screen.findByText(button));
    await screen.findByText('No answer to your submission yet');
    routes[route] = take as never;
    elsewhere('phone');
    await queries.refetchQueries({ queryKey: ['getClaim', 'c1'] });
    await screen.findByText('This was saved somewhere else, too');
    expect(server.handedIn).toEqual([]);
    expect(screen.queryByText('No answer to your submission yet')).toBeNull();
    await userEvent.click(screen.getByText('Take what was saved there'));
    expect(server.draft.values).toEqual({ answer: 'phone' });
  },
);

test.each([
  ['submit', sampleWork(), /^Submit/, { values: { answer: 'both' } }],
  ['review', sampleReview(), /^Fix and accept/, { verdict: 'approve', values: { answer: 'both' } }],
] as const)('a %s reaches a server that knows no revisions of drafts', async (what, work, button, body) => {
  const { server, routes } = shared(work);
  routes[`POST /claims/c1/${what}`] = (sent) => {
    if (Object.hasOwn(sent as object, 'draft_revision'))
      throw new Refused(422, 'the body does not fit', [{ path: 'draft_revision', message: 'unexpected property' }]);
    server.handedIn.push(sent);
    return { ...done, next: null };
  };
  const { router } = showClaim();
  await userEvent.click(await screen.findByText(button));
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  expect(server.handedIn).toEqual([body]);
});

test('what else is wrong with a hand-in is no reason to leave its revision out', async () => {
  const { server, routes } = shared();
  const sent: unknown[] = [];
  routes['POST /claims/c1/submit'] = (what) => {
    sent.push(what);
    throw new Refused(422, 'refused', [{ field: 'draft_revision', message: 'the answer is too short' }]);
  };
  showClaim();
  await answer();
  await submit();
  await screen.findAllByText(/needs a look/);
  expect(sent).toEqual([{ values: { answer: 'both' }, draft_revision: 1 }]);
  expect(server.handedIn).toEqual([]);
});

test('nor is a verdict given over corrections that were made elsewhere', async () => {
  const { server, elsewhere } = shared(sampleReview());
  const { router } = showClaim();
  await screen.findByText(/^Fix and accept/);
  elsewhere('phone');
  await userEvent.click(screen.getByText(/^Fix and accept/));
  await screen.findByText('This was saved somewhere else, too');
  expect(server.handedIn).toEqual([]);
  await userEvent.click(screen.getByText('Keep what is here'));
  await waitFor(() => expect(server.draft.values).toEqual({ answer: 'both' }));
  await userEvent.click(await screen.findByText(/^Fix and accept/));
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  expect(server.handedIn).toEqual([{ verdict: 'approve', values: { answer: 'both' }, draft_revision: 3 }]);
});
