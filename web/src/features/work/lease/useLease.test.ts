import { renderHook } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { forgetTime, heardTime } from '@/api/clock';
import { useLease } from './useLease';

beforeEach(() => {
  forgetTime();
  sessionStorage.clear();
});

test('a browser whose clock is ahead of the server does not call a fresh lease over', () => {
  const server = Date.now() - 45 * 60_000;
  heardTime(new Headers({ Date: new Date(server).toUTCString() }), Date.now() - 20, Date.now());
  const lease = renderHook(() => useLease('c1', new Date(server + 30 * 60_000).toISOString())).result.current;
  expect(lease.phase).toBe('calm');
  expect(Math.abs(lease.left - 30 * 60_000)).toBeLessThan(2000);
});
