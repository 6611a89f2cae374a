import { expect, test } from 'vitest';
import { linesOf, moveLine, placesOf, rankingOf, ranks } from './rank';

const items = ['a', 'b', 'c', 'd'];

test('a value comes back as it was, ties and all', () => {
  const value = ['b', ['a', 'd'], 'c'];
  expect(rankingOf(linesOf(value, items))).toEqual(value);
  expect(placesOf(linesOf(value, items))).toEqual([1, 2, 2, 3]);
});

test('items that are not ranked yet come last; what is no item is left out', () => {
  expect(rankingOf(linesOf(['c', 'gone', 'c'], items))).toEqual(['c', 'a', 'b', 'd']);
  expect(rankingOf(linesOf(undefined, items))).toEqual(items);
});

test('a draft with CRLF ranks the same texts', () => {
  const lines = linesOf(['a\r\nb', 'c'], ['c', 'a\nb']);
  expect(rankingOf(lines)).toEqual(['a\nb', 'c']);
  expect(ranks(['a\r\nb', 'c'], lines)).toBe(true);
});

test('a value ranks its lines unless there are more or fewer items by now', () => {
  for (const value of [
    ['b', ['a', 'd'], 'c'],
    ['b', ['a', 'd'], ['c']],
  ]) {
    expect(ranks(value, linesOf(value, items))).toBe(true);
  }
  for (const value of [undefined, [], ['a', 'b', 'c'], ['a', 'b', 'c', 'd', 'gone'], ['a', [], 'b', 'c', 'd']]) {
    expect(ranks(value, linesOf(value, items))).toBe(false);
  }
});

test('moving keeps every item, whatever is moved where', () => {
  const lines = linesOf(['b', ['a', 'd'], 'c'], items);
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      const moved = moveLine(lines, from, to);
      expect(moved.map((l) => l.id).toSorted()).toEqual(items);
      expect(moved[to]?.id).toBe(lines[from]?.id);
      expect(moved[0]?.tied).toBe(false);
    }
  }
});

test('who moves away leaves its equals behind', () => {
  const lines = linesOf([['a', 'b'], 'c', 'd'], items);
  expect(rankingOf(moveLine(lines, 0, 3))).toEqual(['b', 'c', 'd', 'a']);
  expect(rankingOf(moveLine(lines, 3, 0))).toEqual(['d', ['a', 'b'], 'c']);
});
