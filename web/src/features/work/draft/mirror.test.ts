import { beforeEach, expect, test } from 'vitest';
import { type Kept, Mirror } from './mirror';

beforeEach(() => localStorage.clear());

const place = { user: 1, task: 12, node: 'solve' };
const kept = (change: Partial<Kept> = {}): Kept => ({ claimId: 'c1', pipelineId: 3, revision: 2, at: 1000, ...change });

test('what was written comes back, to its person and place only', () => {
  new Mirror(localStorage).write(place, kept({ values: { a: 'x' } }));
  const mirror = new Mirror(localStorage);
  expect(mirror.read(place)?.values).toEqual({ a: 'x' });
  expect(mirror.read({ ...place, user: 2 })).toBeUndefined();
  expect(mirror.read({ ...place, node: 'check' })).toBeUndefined();
  expect(mirror.find(1, 'c1')).toMatchObject({ task: 12, node: 'solve', pipelineId: 3 });
  expect(mirror.find(2, 'c1')).toBeUndefined();
  mirror.remove(place);
  expect(mirror.read(place)).toBeUndefined();
});

test('without room, what the server has gives way, then the page remembers', () => {
  const full: Storage = Object.create(localStorage);
  let room = 1;
  full.setItem = (key, value) => {
    if (localStorage.length >= room && localStorage.getItem(key) === null) throw new DOMException('full');
    localStorage.setItem(key, value);
  };
  full.removeItem = (key) => localStorage.removeItem(key);
  full.getItem = (key) => localStorage.getItem(key);
  full.key = (i) => localStorage.key(i);
  Object.defineProperty(full, 'length', { get: () => localStorage.length });
  const mirror = new Mirror(full);
  mirror.write(place, kept());
  const second = { ...place, task: 13 };
  mirror.write(second, kept({ values: { a: 1 } }));
  expect(mirror.read(place)).toBeUndefined();
  expect(mirror.read(second)?.values).toEqual({ a: 1 });
  room = 0;
  const third = { ...place, task: 14 };
  mirror.write(third, kept({ values: { a: 2 } }));
  expect(mirror.read(third)?.values).toEqual({ a: 2 });
  expect(mirror.read(second)?.values).toEqual({ a: 1 });
});

test('old work and what is broken are swept', () => {
  const mirror = new Mirror(localStorage);
  mirror.write(place, kept({ at: 0, values: { a: 1 } }));
  localStorage.setItem('taskloom.draft.1.13.solve', '{broken');
  localStorage.setItem('else', 'stays');
  mirror.sweep(31 * 24 * 3600_000);
  expect(localStorage.length).toBe(1);
});

test('a browser without storage loses nothing while the page is open', () => {
  const mirror = new Mirror(undefined);
  mirror.write(place, kept({ values: { a: 1 } }));
  expect(mirror.read(place)?.values).toEqual({ a: 1 });
});

test('each page has its own entry, and drops none that was written anew since', () => {
  const mirror = new Mirror(localStorage);
  mirror.write(place, kept({ values: { a: 'old' } })); // of before pages were told apart
  mirror.write(place, kept({ values: { a: 'one' }, at: 2000 }), 'p1');
  mirror.write(place, kept({ at: 3000 }), 'p2');
  mirror.write({ ...place, node: 'solve_more' }, kept({ at: 4000 }), 'p1');
  const all = mirror.all(place);
  expect(all.map((e) => [e.page, e.values?.a])).toEqual([['p2', undefined], ['p1', 'one'], ['', 'old']]); // biome-ignore format: a table
  expect(mirror.read(place)?.page).toBe('p1');
  expect(mirror.find(1, 'c1')?.values).toBeDefined();
  mirror.write(place, kept({ values: { a: 'more' }, at: 5000 }), 'p1');
  for (const entry of all) mirror.drop(place, entry);
  expect(mirror.all(place).map((e) => e.values?.a)).toEqual(['more']);
  mirror.sweep(31 * 24 * 3600_000);
  expect(localStorage.length).toBe(0);
});
