import { expect, test } from 'vitest';
import type { Upload } from '@/api';
import { place, share, size, stage } from './progress';

const base: Upload = {
  upload_id: 'u',
  status: 'processing',
  reason: '',
  message: '',
  archive_bytes: 0,
  rows_total: 0,
  rows_done: 0,
  bytes_total: 0,
  bytes_done: 0,
  success_count: 0,
  error_count: 0,
  skipped_count: 0,
  cancel_requested: false,
  created_at: '',
  expires_at: '',
  confirmed_at: null,
  finished_at: null,
};

test('progress is by rows, then by bytes, else unknown', () => {
  expect(share({ ...base, rows_total: 200, rows_done: 50, bytes_total: 10, bytes_done: 10 })).toBe(25);
  expect(share({ ...base, bytes_total: 10, bytes_done: 5 })).toBe(50);
  expect(share(base)).toBeNull();
  expect(share({ ...base, status: 'completed' })).toBe(100);
  expect(share({ ...base, rows_total: 2, rows_done: 3 })).toBe(100);
});

test('the stage says what goes on', () => {
  expect(stage({ ...base, rows_total: 1200, rows_done: 5 })).toBe('5 of 1,200 rows');
  expect(stage({ ...base, cancel_requested: true })).toContain('being cancelled');
  expect(stage({ ...base, status: 'completed', success_count: 3, error_count: 1 })).toBe(
    'Done: 3 created, 1 row refused.',
  );
  expect(stage({ ...base, status: 'failed', message: 'The archive is broken.' })).toBe('The archive is broken.');
});

test('errors that the server does not list are told of', () => {
  const errors = [0, 0, 3].map((index) => ({ index, field_name: '', message: '' }));
  const detail = { ...base, errors, task_ids: [], skipped: [] };
  expect(place({ ...detail, error_count: 2 }, 1, 3)).toBe('1 to 3 of 3.');
  expect(place({ ...detail, error_count: 3000 }, 1, 3)).toBe(
    '1 to 3 of 3, of the first 2 of 3,000 refused rows; more are listed once the upload has ended.',
  );
  expect(place({ ...detail, status: 'failed', error_count: 3000 }, 1, 3)).toBe(
    '1 to 3 of 3, of the first 2 of 3,000 refused rows.',
  );
});

test('sizes', () => {
  expect([size(0), size(999), size(1400), size(123_456_789)]).toEqual(['0 B', '999 B', '1.4 KB', '123 MB']);
});
