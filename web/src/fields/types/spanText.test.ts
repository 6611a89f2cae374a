import { expect, test } from 'vitest';
import { pointsOf, segmentsOf, step, trimmed, withSpan } from './spanText';

const text = 'Zoë 😀 met Bob';
const points = pointsOf(text);

test('offsets are code points: an emoji is one, CRLF is one', () => {
  expect(points).toHaveLength(13);
  expect(pointsOf('a\r\nb')).toEqual(['a', '\n', 'b']);
  expect(withSpan([], points, [10, 13], 'PER')).toEqual([{ start: 10, end: 13, label: 'PER', text: 'Bob' }]);
});

test('spans stand in the order of the text, each once', () => {
  const bob = withSpan([], points, [10, 13], 'PER');
  const both = withSpan(bob, points, [0, 3], 'PER');
  expect(both.map((s) => s.text)).toEqual(['Zoë', 'Bob']);
  expect(withSpan(both, points, [0, 3], 'PER')).toHaveLength(2);
});

test('the text is cut where something begins or ends, and nothing of it is lost', () => {
  const spans = [
    { start: 0, end: 5, label: 'A' },
    { start: 4, end: 9, label: 'B' },
  ];
  const segments = segmentsOf(points, spans, [2, 4]);
  expect(segments.map((s) => s.text).join('')).toBe(text);
  expect(segments.map((s) => [s.text, s.spans, s.selected])).toEqual([
    ['Zo', [0], false],
    ['ë ', [0], true],
    ['😀', [0, 1], false],
    [' met', [1], false],
    [' Bob', [], false],
  ]);
});

test('a selection loses white space at its ends, whichever way it was made', () => {
  expect(trimmed(points, 3, 6)).toEqual([4, 5]);
  expect(trimmed(points, 10, 5)).toEqual([6, 9]);
  expect(trimmed(points, 3, 4)).toBeUndefined();
  expect(trimmed(points, 2, 2)).toBeUndefined();
});

test('the caret moves by characters or words and stays inside', () => {
  expect(step(points, 0, 1, false)).toBe(1);
  expect(step(points, 0, -1, false)).toBe(0);
  expect(step(points, 0, 1, true)).toBe(3);
  expect(step(points, 3, 1, true)).toBe(5);
  expect(step(points, 13, -1, true)).toBe(10);
  expect(step(points, 10, -1, true)).toBe(6);
  expect(step(points, 12, 1, true)).toBe(13);
});
