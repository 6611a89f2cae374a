import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { consoleAPI, Refused, sampleWork, showClaim } from '@/testing/claimPage';
import { notify } from '@/ui/notify';
import { mirror } from './draft/mirror';
import { offerNext } from './NextToast';

vi.mock('./NextToast', () => ({ offerNext: vi.fn() }));

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.clearAllMocks();
});

/** A server that keeps one draft. */
function server() {
  let draft: unknown = null;
  return consoleAPI({
    'GET /claims/c1': () => sampleWork({ draft } as never),
    'PUT /claims/c1/draft': (sent) => {
      const { values, revision } = sent as { values: unknown; revision: number };
      const saved = { values, revision: revision + 1, updated_at: new Date().toISOString() };
      draft = saved;
      return { revision: saved.revision, updated_at: saved.updated_at };
    },
  });
}

const answer = () => screen.findByLabelText<HTMLInputElement>(/Answer/);
const saved = () => screen.findByText('Saved');

test('coming back to a claim shows what was saved there, also before the server answers again', async () => {
  const routes = server();
  const { router } = showClaim({ cached: sampleWork() });
  await userEvent.type(await answer(), 'forty-two');
  await saved();
  router.history.push('/pipelines/3/work');
  await screen.findByText('Queue');
  const { 'GET /claims/c1': get } = routes;
  routes['GET /claims/c1'] = async (...args) => {
    await new Promise((done) => setTimeout(done, 50));
    return get?.(...args);
  };
  await userEvent.click(screen.getByText('Go on'));
  expect((await answer()).value).toBe('forty-two');
});

test('what was saved elsewhere since is shown, not what this page saw last', async () => {
  const routes = server();
  const { router } = showClaim();
  await userEvent.type(await answer(), 'here');
  await saved();
  router.history.push('/pipelines/3/work');
  await screen.findByText('Queue');
  await Promise.resolve(
    routes['PUT /claims/c1/draft']?.({ values: { answer: 'there' }, revision: 1 }, new URLSearchParams()),
  );
  await userEvent.click(screen.getByText('Go on'));
  expect((await answer()).value).toBe('there');
});

/** What the server says of a claim that is over. */
const over = {
  'GET /claims/c1': () => {
    throw new Refused(409, 'your claim is over');
  },
};

/** This browser knows what the claim was of. */
const keep = (node: string, kind: 'subtask' | 'review') =>
  mirror.write({ user: 1, task: 12, node }, { claimId: 'c1', pipelineId: 3, revision: 0, kind, at: Date.now() });

test('a claim that was handed in says so, not that it is lost', async () => {
  consoleAPI({
    ...over,
    'GET /history/c1': () => ({ ...sampleWork(), outcome: 'waiting', at: new Date().toISOString() }),
  });
  showClaim();
  expect(await screen.findByText('This task is submitted')).toBeDefined();
  expect(screen.getByText('See what you submitted').closest('a')?.getAttribute('href')).toBe('/history/c1');
});

test('a review that is over is claimed again as a review, and the queues are one click away', async () => {
  const asked: unknown[] = [];
  consoleAPI({
    ...over,
    'POST /pipelines/3/claim': (body) => {
      asked.push(body);
      return null;
    },
  });
  keep('check', 'review');
  showClaim();
  expect(await screen.findByText('Go to the queues')).toBeDefined();
  await userEvent.click(screen.getByText('Claim it again'));
  await screen.findByText(/cannot be claimed now/);
  expect(asked).toEqual([{ role: 'reviewer', task_id: 12, node: 'check' }]);
});

test('a claim whose answer got lost is gone to, not told as taken', async () => {
  const asked: unknown[] = [];
  consoleAPI({
    ...over,
    'POST /pipelines/3/claim': (body) => {
      asked.push(body);
      throw asked.length === 1 ? new Refused(0) : new Refused(409, 'node "solve" of task 12 is not free');
    },
    'GET /claims': () => ({ claims: [{ claim_id: 'c2', task_id: 12, node: 'solve' }] }),
    'GET /claims/c2': () => sampleWork({ claim_id: 'c2' }),
  });
  keep('solve', 'subtask');
  const { router } = showClaim();
  await userEvent.click(await screen.findByText('Claim it again'));
  await screen.findByText(/cannot be reached/);
  await userEvent.click(screen.getByText('Claim it again'));
  await waitFor(() => expect(router.state.location.pathname).toBe('/claims/c2'));
  expect(asked).toHaveLength(2);
});

test('who went elsewhere before a task was claimed again stays there and is offered it', async () => {
  let give = (_: unknown) => {};
  const late = new Promise((resolve) => {
    give = resolve;
  });
  const claim = vi.fn(() => late);
  consoleAPI({ ...over, 'POST /pipelines/3/claim': claim });
  keep('solve', 'subtask');
  const { router } = showClaim();
  await userEvent.click(await screen.findByText('Claim it again'));
  await waitFor(() => expect(claim).toHaveBeenCalledOnce());
  act(() => router.history.push('/'));
  await screen.findByText('Home');
  give(sampleWork({ claim_id: 'c2' }));
  await waitFor(() => expect(offerNext).toHaveBeenCalledOnce());
  expect(vi.mocked(offerNext).mock.calls[0]?.[0]).toContain('Task 12');
  expect(router.state.location.pathname).toBe('/');
});

test('who went elsewhere before a task was released stays there', async () => {
  const told = vi.spyOn(notify, 'done');
  let done = () => {};
  const late = new Promise<void>((resolve) => {
    done = resolve;
  });
  const release = vi.fn(() => late);
  consoleAPI({ 'GET /claims/c1': () => sampleWork(), 'DELETE /claims/c1': release });
  const { router } = showClaim();
  await answer();
  await userEvent.click(screen.getByRole('button', { name: 'Skip' }));
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Skip' }));
  await waitFor(() => expect(release).toHaveBeenCalledOnce());
  act(() => router.history.push('/'));
  await screen.findByText('Home');
  done();
  await waitFor(() => expect(told).toHaveBeenCalledWith('Task 12 is skipped.'));
  await new Promise((passed) => setTimeout(passed, 50));
  expect(router.state.location.pathname).toBe('/');
});

test('a release that waits for the last save is one, and nothing comes in between', async () => {
  let save = () => {};
  const gate = new Promise<void>((resolve) => {
    save = resolve;
  });
  let [released, submitted] = [0, 0];
  consoleAPI({
    'GET /claims/c1': () => sampleWork(),
    'PUT /claims/c1/draft': async () => {
      await gate;
      return { revision: 1, updated_at: new Date().toISOString() };
    },
    'POST /claims/c1/submit': () => {
      submitted++;
      return null;
    },
    'DELETE /claims/c1': () => {
      released++;
      return null;
    },
  });
  const { router } = showClaim();
  await userEvent.type(await answer(), 'forty');
  await userEvent.click(screen.getByRole('button', { name: 'Skip' }));
  const dialog = within(await screen.findByRole('dialog'));
  const skip = dialog.getByRole('button', { name: 'Skip' });
  await userEvent.click(skip);
  await waitFor(() => expect(skip).toHaveProperty('disabled', true));
  expect(dialog.getByRole('button', { name: 'Keep it' })).toHaveProperty('disabled', true);
  await userEvent.keyboard('{Escape}{Control>}{Enter}{/Control}');
  await userEvent.click(skip);
  expect(screen.getByRole('dialog')).toBeDefined();
  expect(submitted).toBe(0);
  expect(released).toBe(0);
  save();
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  expect(released).toBe(1);
});
