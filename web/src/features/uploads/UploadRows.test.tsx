import { cleanup, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import { UploadRows } from './UploadRows';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** Shows an upload of so many tasks, of which the server lists some. */
function show(count: number, listed: number) {
  const task_ids = Array.from({ length: listed }, (_, i) => 1001 + i);
  consoleAPI({
    'GET /pipelines/3/uploads/u': () => ({
      status: 'completed',
      errors: [],
      error_count: 0,
      skipped: [],
      task_ids,
      success_count: count,
    }),
  });
  showAt('/uploads', () => <UploadRows pipelineId={3} uploadId="u" />);
}

test('tasks that the server does not list are counted', async () => {
  show(1_000_000, 100);
  expect(await screen.findByText('and 999,950 more')).toBeDefined();
  expect(screen.getByText('1050')).toBeDefined();
  expect(screen.queryByText('1051')).toBeNull();
});

test('of a few tasks there are no more', async () => {
  show(2, 2);
  expect(await screen.findByText('1002')).toBeDefined();
  expect(screen.queryByText(/more$/)).toBeNull();
});
