import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '@/app/query';
import { consoleAPI, sampleWork, showClaim } from '@/testing/claimPage';
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
