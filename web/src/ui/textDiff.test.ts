import { describe, expect, test } from 'vitest';
import { sameValue, valueText, wordDiff } from './textDiff';

describe('wordDiff', () => {
  test('names what was added and removed, word by word', () => {
    expect(wordDiff('the cat sat', 'the dog sat')).toEqual([
      { kind: 'same', text: 'the ' },
      { kind: 'removed', text: 'cat' },
      { kind: 'added', text: 'dog' },
      { kind: 'same', text: ' sat' },
    ]);
  });
  test('equal and empty texts have no changes', () => {
    expect(wordDiff('', '')).toEqual([]);
    expect(wordDiff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }]);
    expect(wordDiff('', 'new')).toEqual([{ kind: 'added', text: 'new' }]);
  });
  test('both sides can be put together again', () => {
    const [a, b] = ['one two\n three  four', 'one 2\n three  four five'];
    const parts = wordDiff(a, b);
    const side = (not: string) =>
      parts
        .filter((p) => p.kind !== not)
        .map((p) => p.text)
        .join('');
    expect(side('added')).toBe(a);
    expect(side('removed')).toBe(b);
  });
  test('texts too long for words are compared by line', () => {
    const long = 'word '.repeat(5_000);
    expect(wordDiff(`${long}\nold\n`, `${long}\nnew\n`).map((p) => p.kind)).toEqual(['same', 'removed', 'added']);
  });
});

test('values become text', () => {
  expect(valueText(null)).toBe('');
  expect(valueText(false)).toBe('no');
  expect(valueText(['a', 'b'])).toBe('a\nb');
  expect(valueText({ a: 1 })).toBe('{\n  "a": 1\n}');
});

test('values are the same by content', () => {
  expect(sameValue({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 })).toBe(true);
  expect(sameValue({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(sameValue([1, 2], [2, 1])).toBe(false);
  expect(sameValue(undefined, null)).toBe(true);
  expect(sameValue('', null)).toBe(false);
});
