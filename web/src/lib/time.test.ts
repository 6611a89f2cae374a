import { expect, it } from 'vitest';
import { absolute, ago, clock, day } from './time';

it('says exact moments in UTC or with the offset of the place', () => {
  expect(absolute('2026-03-01T14:05:09.123Z', 'utc')).toBe('2026-03-01 14:05:09 UTC');
  expect(absolute('2026-03-01T14:05:09Z', 'local')).toMatch(/^2026-0[23]-\d\d \d\d:\d\d:09 UTC([+-]\d\d:\d\d)?$/);
  expect(absolute('never')).toBe('');
  expect(day('2026-03-01T14:05:09Z', 'utc')).toBe('2026-03-01');
});

it.each([
  [-5, 'just now'],
  [-61, '1 minute ago'],
  [-86_400, 'yesterday'],
  [7_300, 'in 2 hours'],
  [30, 'in a moment'],
])('%i seconds away is %s', (seconds, words) => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  expect(ago(new Date(now + seconds * 1000).toISOString(), now)).toBe(words);
});

it.each([
  [-1, '0:00'],
  [65_000, '1:05'],
  [3_729_000, '1:02:09'],
])('%i ms left are %s', (ms, text) => expect(clock(ms)).toBe(text));
