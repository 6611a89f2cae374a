import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '@/app/query';
import { consoleAPI, Refused, sampleWork, showClaim } from '@/testing/claimPage';
import { offerNext } from './NextToast';

vi.mock('./NextToast', () => ({ offerNext: vi.fn() }));

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
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
  await waitFor(() => expect(server.submits).toEqual([{ values: { answer: '42' } }]));
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
