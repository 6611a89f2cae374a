import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
  expect(sent).toEqual([{ verdict: 'approve' }, { verdict: 'approve' }]);
});
