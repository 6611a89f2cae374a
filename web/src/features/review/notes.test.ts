import { describe, expect, test } from 'vitest';
import type { Reviewed } from '@/api';
import {
  anything,
  emptied,
  fixes,
  missing,
  type Notes,
  noNotes,
  notesFrom,
  parseNotes,
  remarks,
  request,
  returned,
  unjudged,
} from './notes';

const author = { id: 1, name: 'Ada', email: 'a@x' };
const reviewed: Reviewed[] = [
  {
    node: 'solve',
    title: '',
    author,
    iteration: 1,
    earlier: [],
    fields: ['answer', 'steps'],
    values: { answer: '41', steps: ['a'] },
  },
  { node: 'label', title: '', author, iteration: 1, earlier: [], fields: ['kind'], values: { kind: 'x' } },
];
const notes = (fields: Notes['fields'], overall = ''): Notes => ({ fields, overall });

test('only what was said is sent, and only about fields under review', () => {
  const n = notes(
    {
      answer: { verdict: 'wrong', text: ' no ' },
      steps: { text: '  ' },
      kind: { verdict: 'ok', text: '' },
      gone: { text: 'x' },
    },
    ' all ',
  );
  expect(remarks(n, reviewed)).toEqual([
    { field: 'answer', text: 'no', verdict: 'wrong' },
    { field: 'kind', verdict: 'ok' },
    { text: 'all' },
  ]);
});

test('a fix counts when it says something else', () => {
  expect(fixes({ answer: '41', steps: ['a', 'b'] }, reviewed)).toEqual({ steps: ['a', 'b'] });
  expect(fixes({ answer: undefined }, reviewed)).toEqual({ answer: null });
  expect(fixes({ other: 1 }, reviewed)).toEqual({});
});

test('a correction that leaves nothing is none; an answer that was not there may stay away', () => {
  expect(emptied({ answer: null, steps: [], kind: 'y' }, reviewed)).toEqual(['answer', 'steps']);
  const [solve] = reviewed as [Reviewed];
  expect(emptied({ answer: {} }, [{ ...solve, values: { answer: null } }])).toEqual([]);
});

describe('a rejection', () => {
  test('returns the subtasks that are criticized, not the praised ones', () => {
    expect(
      returned(notes({ answer: { verdict: 'wrong', text: '' }, kind: { verdict: 'ok', text: 'nice' } }), reviewed),
    ).toEqual(['solve']);
    expect(returned(notes({ kind: { text: 'which?' } }), reviewed)).toEqual(['label']);
    expect(returned(notes({}, 'all of it'), reviewed)).toEqual([]);
  });
  test('needs words', () => {
    expect(missing('reject', notes({ answer: { verdict: 'wrong', text: '' } }), reviewed)).not.toBe('');
    expect(missing('reject', notes({ answer: { verdict: 'wrong', text: 'no' } }), reviewed)).toBe('');
    expect(missing('escalate', noNotes, reviewed)).not.toBe('');
    expect(missing('approve', noNotes, reviewed)).toBe('');
  });
  test('carries no corrections', () => {
    const r = request('reject', notes({}, 'no'), { answer: '42' }, reviewed);
    expect(r).toEqual({ verdict: 'reject', comments: [{ text: 'no' }] });
    expect(request('approve', noNotes, { answer: '42' }, reviewed)).toEqual({
      verdict: 'approve',
      values: { answer: '42' },
    });
  });
});

test('fields that are judged or fixed are done', () => {
  expect(unjudged(notes({ answer: { verdict: 'ok', text: '' } }), { kind: 'y' }, reviewed)).toEqual(['steps']);
});

test('notes come back from a review that was taken back, and from storage', () => {
  const n = notesFrom([{ field: 'answer', text: 'no', verdict: 'wrong' }, { text: 'one' }, { text: 'two' }]);
  expect(n).toEqual({ fields: { answer: { text: 'no', verdict: 'wrong' } }, overall: 'one\ntwo' });
  expect(parseNotes(JSON.parse(JSON.stringify(n)))).toEqual(n);
  expect(parseNotes('x')).toBeNull();
  expect(parseNotes({ fields: { a: { text: 5 }, b: { text: 't', verdict: 'maybe' } } })).toEqual({
    fields: { b: { text: 't' } },
    overall: '',
  });
});

test('a verdict or a word is something said', () => {
  expect(anything(noNotes)).toBe(false);
  expect(anything(notes({ answer: { text: '' } }))).toBe(false);
  expect(anything(notes({ answer: { verdict: 'ok', text: '' } }))).toBe(true);
  expect(anything(notes({}, 'all'))).toBe(true);
});
