import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReviewRequest, Work } from '@/api';
import { consoleAPI, Refused, sampleReview, showClaim } from '@/testing/claimPage';
import './ReviewWork'; // the page fetches it when it is needed: here it is there

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a correction that leaves nothing is not called a fix', async () => {
  consoleAPI({
    'GET /claims/c1': () => sampleReview(),
    'PUT /claims/c1/draft': (sent) => ({ revision: (sent as { revision: number }).revision + 1 }),
  });
  showClaim();
  await userEvent.click(await screen.findByText('Fix it here'));
  const correction = screen.getByLabelText(/Your correction/);
  await userEvent.type(correction, '2');
  await screen.findByText(/^Fix and accept/);
  await userEvent.clear(correction);
  expect(screen.queryByText(/^Fix and accept/)).toBeNull();
  expect(screen.getByText(/reject it instead/)).toBeDefined();
});

test('a verdict that was given and whose answer got lost is sent again as it was', async () => {
  const sent: unknown[] = [];
  const routes = consoleAPI({
    'GET /claims/c1': () => sampleReview(),
    'POST /claims/c1/review': (body) => {
      sent.push(body);
      if (sent.length === 1) throw new Refused(503, 'not now');
      return { claim_id: 'c1', task_id: 12, node: 'check', undo_until: null, next: null };
    },
  });
  const { router, queries } = showClaim();
  await userEvent.click(await screen.findByText('Accept'));
  await screen.findByText('No answer to your submission yet');
  routes['GET /claims/c1'] = () => {
    throw new Refused(409, 'your claim is over');
  };
  void queries.refetchQueries({ queryKey: ['getClaim', 'c1'] });
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/3/work'));
  expect(sent).toEqual([
    { verdict: 'approve', draft_revision: 0 },
    { verdict: 'approve', draft_revision: 0 },
  ]);
});

/** A review whose verdicts the server takes down, and answers as the test says. */
function reviewing(work: Work, answer: (verdict: ReviewRequest) => void) {
  const sent: ReviewRequest[] = [];
  consoleAPI({
    'GET /claims/c1': () => work,
    'PUT /claims/c1/draft': (body) => ({ revision: (body as { revision: number }).revision + 1 }),
    'POST /claims/c1/review': (body) => {
      sent.push(body as ReviewRequest);
      answer(body as ReviewRequest);
      return { claim_id: 'c1', task_id: 12, node: 'check', undo_until: null, next: null };
    },
  });
  showClaim();
  return sent;
}

test('a correction that was emptied keeps nothing from being accepted when another one hides it', async () => {
  const kind = { name: 'kind', title: 'Kind', type: 'short_text', input: 'contributor' };
  const answer = {
    ...kind,
    name: 'answer',
    title: 'Answer',
    visible_when: { field: 'kind', op: 'eq', value: 'sum' },
  };
  const [reviewed] = sampleReview().reviewed;
  const both = { ...reviewed, fields: ['kind', 'answer'], values: { kind: 'sum', answer: '41' } };
  const sent = reviewing(sampleReview({ fields: [kind, answer], reviewed: [both] } as never), () => {});
  for (const fix of await screen.findAllByText('Fix it here')) await userEvent.click(fix);
  await userEvent.clear(screen.getByLabelText(/Your correction of Answer/));
  await userEvent.type(screen.getByLabelText(/Your correction of Kind/), 's');
  expect(screen.queryByLabelText(/Your correction of Answer/)).toBeNull();
  await userEvent.click(screen.getByText(/^Fix and accept/));
  await waitFor(() =>
    expect(sent).toEqual([{ verdict: 'approve', values: { answer: '', kind: 'sums' }, draft_revision: 0 }]),
  );
});

test('what the server refused stands until it is mended, and no longer', async () => {
  const sent = reviewing(sampleReview(), (verdict) => {
    if (verdict.values?.answer === '412') throw new Refused(422, 'no', [{ field: 'answer', message: 'is too much' }]);
  });
  await userEvent.click(await screen.findByText('Fix it here'));
  const correction = screen.getByLabelText(/Your correction/);
  await userEvent.type(correction, '2');
  await userEvent.click(screen.getByText(/^Fix and accept/));
  await screen.findByText('Is too much.');
  await userEvent.click(screen.getByText(/^Reject/));
  const dialog = await screen.findByRole('dialog');
  expect(within(dialog).queryByRole('alert')).toBeNull();
  await userEvent.click(within(dialog).getByText('Back'));
  await userEvent.type(correction, '{Backspace}3');
  expect(screen.queryByText('Is too much.')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
  await userEvent.click(screen.getByText(/^Fix and accept/));
  await waitFor(() => expect(sent.map((v) => v.values)).toEqual([{ answer: '412' }, { answer: '413' }]));
});

test('a reason is not written on while it is on its way', async () => {
  let answer = () => {};
  consoleAPI({
    'GET /claims/c1': () => sampleReview(),
    'POST /claims/c1/review': () =>
      new Promise<void>((done) => {
        answer = done;
      }),
  });
  showClaim();
  await userEvent.click(await screen.findByText(/^Reject/));
  const dialog = await screen.findByRole('dialog');
  const reason = within(dialog).getByLabelText('Reason');
  await userEvent.type(reason, 'Not 41');
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  await waitFor(() => expect((reason as HTMLTextAreaElement).disabled).toBe(true));
  await userEvent.type(reason, ', but 42');
  expect((reason as HTMLTextAreaElement).value).toBe('Not 41');
  answer();
});

test('a verdict that was turned away is given as it stands by then', async () => {
  const sent = reviewing(sampleReview(), (verdict) => {
    if (!verdict.values) throw new Refused(429, 'too many requests');
  });
  await userEvent.click(await screen.findByText('Accept'));
  const again = await screen.findByText('Try again');
  await userEvent.click(screen.getByText('Fix it here'));
  await userEvent.type(screen.getByLabelText(/Your correction/), '2');
  await userEvent.click(again);
  await waitFor(() => expect(sent.map((v) => v.values)).toEqual([undefined, { answer: '412' }]));
});

test('why a correction is not saved stands there', async () => {
  consoleAPI({
    'GET /claims/c1': () => sampleReview(),
    'PUT /claims/c1/draft': () => {
      throw new Refused(413, 'the draft is too large');
    },
  });
  showClaim();
  await userEvent.click(await screen.findByText('Fix it here'));
  await userEvent.type(screen.getByLabelText(/Your correction/), '2');
  expect(await screen.findByText('the draft is too large')).toBeDefined();
});

test('an answer that is opened to correct it, or written as it was, is no correction to keep', async () => {
  const kept: unknown[] = [];
  consoleAPI({
    'GET /claims/c1': () => sampleReview(),
    'PUT /claims/c1/draft': (sent) => {
      const { values, revision } = sent as { values: unknown; revision: number };
      kept.push(values);
      return { revision: revision + 1 };
    },
  });
  showClaim();
  await userEvent.click(await screen.findByText('Fix it here'));
  await userEvent.keyboard('{Control>}s{/Control}');
  const correction = screen.getByLabelText(/Your correction/);
  await userEvent.type(correction, '2');
  await userEvent.keyboard('{Control>}s{/Control}');
  await waitFor(() => expect(kept).toEqual([{ answer: '412' }]));
  await userEvent.type(correction, '{Backspace}');
  await userEvent.keyboard('{Control>}s{/Control}');
  await waitFor(() => expect(kept.at(-1)).toEqual({}));
  expect(correction).toHaveProperty('value', '41');
});
