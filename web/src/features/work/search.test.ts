import { expect, test } from 'vitest';
import { queueSearch } from './search';

test('the address of a queue says what is listed', () => {
  const all = { role: 'reviewer', task: '12', node: 'check', order: 'contributor', contributor: '7' };
  expect(queueSearch(all)).toEqual({ ...all, task: 12, contributor: 7 });
});

test('what makes no sense there is dropped', () => {
  const wrong = { role: 'admin', task: -1, node: 5, order: 'age', contributor: '1.5', other: 'x' };
  expect(queueSearch(wrong)).toEqual({});
  expect(queueSearch({ task: 'x', contributor: 0, order: true })).toEqual({});
});
