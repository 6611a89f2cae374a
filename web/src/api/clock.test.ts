import { beforeEach, expect, test, vi } from 'vitest';
import { forgetTime, heardTime, serverNow } from './clock';

beforeEach(() => {
  forgetTime();
  vi.useFakeTimers({ now: 1_800_000_000_000 });
  return () => vi.useRealTimers();
});

const minute = 60_000;
/** An answer of a server whose clock is off by this much, after a round trip of so many milliseconds. */
function answer(off: number, took = 40, more: Record<string, string> = {}) {
  const received = Date.now();
  const date = new Date(received - took / 2 + off).toUTCString();
  heardTime(new Headers({ Date: date, ...more }), received - took, received);
}
const off = () => serverNow() - Date.now();

test('a clock that is right within a second is left alone', () => {
  expect(off()).toBe(0);
  answer(0);
  expect(off()).toBe(0);
  vi.advanceTimersByTime(700);
  answer(0);
  expect(off()).toBe(0);
});

test('a clock that is wrong is corrected, better with every answer', () => {
  answer(-5 * minute);
  expect(Math.abs(off() + 5 * minute)).toBeLessThan(1100);
  for (let i = 0; i < 20; i++) {
    vi.advanceTimersByTime(4050);
    answer(-5 * minute);
  }
  expect(Math.abs(off() + 5 * minute)).toBeLessThan(100);
});

test('a late answer changes nothing, nor does one of a cache or without a date', () => {
  answer(3 * minute);
  const before = off();
  answer(3 * minute, 30_000);
  answer(-60 * minute, 40, { Age: '3780' });
  heardTime(new Headers(), Date.now() - 5, Date.now());
  expect(off()).toBe(before);
});

test('a clock that is set is noticed', () => {
  answer(10 * minute);
  answer(0);
  expect(off()).toBe(0);
});
