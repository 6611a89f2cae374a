import { describe, expect, test } from 'vitest';
import { filterWords, parseFilters, sameFilters, toQuery } from './filters';

describe('parseFilters', () => {
  test('takes what the URL says', () => {
    const search = {
      status: 'escalated',
      node: 'solve',
      person: '7',
      age: '7d',
      priority: '-3',
      held: 'true',
      id: '12',
    };
    expect(parseFilters(search)).toEqual({
      status: 'escalated',
      node: 'solve',
      person: 7,
      age: '7d',
      priority: -3,
      held: true,
      id: 12,
    });
  });
  test('drops what makes no sense', () => {
    const search = {
      status: 'weird',
      node: '',
      node_status: 5,
      person: 'x',
      age: '2y',
      priority: 101,
      held: 'maybe',
      id: -1,
    };
    expect(parseFilters(search)).toEqual({});
    expect(parseFilters({ person: '1.5', id: '99999999999999999999' })).toEqual({});
  });
  test('priority zero and held false are filters', () => {
    expect(parseFilters({ priority: 0, held: false })).toEqual({ priority: 0, held: false });
  });
});

describe('toQuery', () => {
  const now = Date.parse('2026-11-21T12:00:31Z');
  test('turns an age into an edge, to the minute', () => {
    expect(toQuery({ age: '24h', status: 'pending' }, now)).toEqual({
      status: 'pending',
      created_after: '2026-11-20T12:00:00.000Z',
    });
    expect(toQuery({ age: 'older7d' }, now)).toEqual({ created_before: '2026-11-14T12:00:00.000Z' });
  });
  test('nothing asks for everything', () => {
    expect(toQuery({}, now)).toEqual({});
  });
});

test('filters compare by content', () => {
  expect(sameFilters({ status: 'pending' }, { status: 'pending', node: undefined })).toBe(true);
  expect(sameFilters({ status: 'pending' }, { status: 'pending', held: false })).toBe(false);
});

test('filters read as words', () => {
  const names = { node: (k: string) => `“${k}”`, person: () => 'Ada' };
  const words = filterWords({ node: 'solve', person: 3, age: 'older7d', held: false, status: 'in_progress' }, names);
  expect(words.map((w) => w.text)).toEqual([
    'status in progress',
    'at “solve”',
    'held by Ada',
    'older than 7 days',
    'not on hold',
  ]);
});
