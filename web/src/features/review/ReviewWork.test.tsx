import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { consoleAPI, sampleReview, showClaim } from '@/testing/claimPage';
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
