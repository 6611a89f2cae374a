import { expect, test } from 'vitest';
import { leaseState, shouldExtend } from './lease';

const minute = 60_000;

test('a lease turns amber for its last fifth, then it is over', () => {
  const ends = 30 * minute;
  expect(leaseState(ends, 30 * minute, 0)).toEqual({ left: 30 * minute, phase: 'calm' });
  expect(leaseState(ends, 30 * minute, 24 * minute - 1).phase).toBe('calm');
  expect(leaseState(ends, 30 * minute, 24 * minute)).toEqual({ left: 6 * minute, phase: 'amber' });
  expect(leaseState(ends, 30 * minute, ends - 1).phase).toBe('amber');
  expect(leaseState(ends, 30 * minute, ends)).toEqual({ left: 0, phase: 'over' });
  expect(leaseState(ends, 30 * minute, ends + minute)).toEqual({ left: 0, phase: 'over' });
});

test('work extends a lease that is half gone, at most every half minute', () => {
  const ends = 30 * minute;
  expect(shouldExtend(ends, 30 * minute, 14 * minute, 0)).toBe(false);
  expect(shouldExtend(ends, 30 * minute, 16 * minute, 0)).toBe(true);
  expect(shouldExtend(ends, 30 * minute, 16 * minute, 16 * minute - 29_999)).toBe(false);
  expect(shouldExtend(ends, 30 * minute, 16 * minute, 16 * minute - 30_000)).toBe(true);
});

test('what is over is not extended by typing: somebody else may have it', () => {
  expect(shouldExtend(minute, minute, minute, -minute)).toBe(false);
});
