import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import '@/features/review/ReviewWork'; // the page fetches it when it is needed: here it is there
import { consoleAPI, sampleReview, sampleWork, showClaim } from '@/testing/claimPage';

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A claim that another one follows, and what is handed in at that one. */
function twoClaims(what: 'submit' | 'review', sample: typeof sampleWork) {
  const handedIn: unknown[] = [];
  const done = { claim_id: 'c1', task_id: 12, node: 'solve', undo_until: null };
  consoleAPI({
    'GET /claims/c1': () => sample(),
    'PUT /claims/c2/draft': (sent) => ({ revision: (sent as { revision: number }).revision + 1 }),
    [`POST /claims/c1/${what}`]: () => ({ ...done, next: sample({ claim_id: 'c2', task_id: 13 }) }),
    [`POST /claims/c2/${what}`]: (sent) => {
      handedIn.push((sent as { values?: unknown }).values);
      return { ...done, claim_id: 'c2', task_id: 13, next: null };
    },
  });
  showClaim();
  return handedIn;
}

const hands = [
  ['a key that is pressed', () => userEvent.keyboard('{Control>}{Enter}{/Control}')],
  ['a button that is clicked', () => userEvent.click(screen.getByText(/^(Submit|Accept|Fix and accept)/))],
] as const;

test.each(hands)('%s twice hands in no task that nobody has seen', async (_, handIn) => {
  const handedIn = twoClaims('submit', sampleWork);
  await screen.findByText(/^Task 12/);
  await handIn();
  await screen.findByText(/^Task 13/);
  await handIn();
  await userEvent.type(screen.getByLabelText(/Answer/), '42');
  vi.advanceTimersByTime(600);
  await handIn();
  await waitFor(() => expect(handedIn).toEqual([{ answer: '42' }]));
});

test.each(hands)('%s twice accepts no review that nobody has seen', async (_, handIn) => {
  const handedIn = twoClaims('review', sampleReview);
  await screen.findByText(/^Task 12/);
  await handIn();
  await screen.findByText(/^Task 13/);
  await handIn();
  await userEvent.click(screen.getByText('Fix it here'));
  await userEvent.type(screen.getByLabelText(/Your correction/), '2');
  vi.advanceTimersByTime(600);
  await handIn();
  await waitFor(() => expect(handedIn).toEqual([{ answer: '412' }]));
});
