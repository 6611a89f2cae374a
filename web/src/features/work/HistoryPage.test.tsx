import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import HistoryPage from './HistoryPage';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(next: string | null, total: number) {
  consoleAPI({
    'GET /history': () => ({ submissions: [], next_cursor: next }),
    'GET /progress': () => ({ today: 1, week: 2, total, accepted: 0, returned: 0, days: [] }),
  });
  showAt('/history', HistoryPage);
}

test('a page with nothing on it is not the end while older ones follow', async () => {
  show('further', 10_000);
  await screen.findByRole('button', { name: 'Show older ones' });
  expect(screen.queryByText('Nothing yet')).toBeNull();
  await screen.findByText('10,000+');
});

test('where nothing follows there is nothing', async () => {
  show(null, 9_999);
  await screen.findByText('Nothing yet');
  await screen.findByText('9,999');
});
