import { act, cleanup, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pendingUploads } from '@/fields/upload/pending';
import { consoleAPI, sampleWork, showClaim } from '@/testing/claimPage';

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const minute = 60_000;
const inAnHour = () => new Date(Date.now() + 60 * minute).toISOString();
const shows = (left: string) => waitFor(() => expect(screen.getByRole('timer').textContent).toBe(left));

test('a file that moves on keeps the claim, and one that stands still does not', async () => {
  const work = sampleWork({ lease_expires_at: inAnHour() });
  let extended = 0;
  consoleAPI({
    'GET /claims/c1': () => work,
    'POST /claims/c1/extend': () => {
      extended += 1;
      return { lease_expires_at: inAnHour() };
    },
  });
  showClaim();
  await shows('1:00:00');
  let id = 0;
  act(() => {
    id = pendingUploads.add({ field: 'answer', file: new File(['x'], 'long.mp4'), abort: () => {} });
  });
  act(() => pendingUploads.update(id, { share: 0.4 }));
  vi.setSystemTime(Date.now() + 31 * minute);
  await shows('29:00');
  expect(extended).toBe(0);
  act(() => pendingUploads.update(id, { share: 0.5 }));
  act(() => pendingUploads.update(id, { share: 0.6 }));
  await shows('1:00:00');
  expect(extended).toBe(1);
});
