import { expect, test } from 'vitest';
import { parseViews, withView } from './views';

test('broken settings are no views', () => {
  expect(parseViews(undefined)).toEqual([]);
  expect(
    parseViews([
      { name: ' ' },
      { name: 'a', filters: null },
      5,
      { name: 'b', filters: { status: 'nope', held: true } },
    ]),
  ).toEqual([{ name: 'b', filters: { held: true } }]);
});

test('a view of the same name is replaced where it stands', () => {
  const views = [
    { name: 'a', filters: {} },
    { name: 'b', filters: {} },
  ];
  expect(withView(views, { name: 'a', filters: { held: true } })).toEqual([
    { name: 'a', filters: { held: true } },
    views[1],
  ]);
  expect(withView(views, { name: 'c', filters: {} })).toHaveLength(3);
});
