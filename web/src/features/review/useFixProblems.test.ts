import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { APIError, type Work } from '@/api';
import { type Field, Form, type Values } from '@/fields/rules';
import { unparsed } from '@/fields/unparsed';
import { sampleReview } from '@/testing/claimPage';
import { refusedFixes, useFixProblems } from './useFixProblems';

/** What is said about corrections of a review. */
function said(answers: Values, work: Work = sampleReview()) {
  const form = new Form(work.fields as unknown as Field[]);
  const submitted = Object.assign({}, ...work.reviewed.map((r) => r.values));
  const shown = form.visible({ ...work.values, ...submitted, ...answers });
  return Object.fromEntries(renderHook(() => useFixProblems(form, work, answers, shown)).result.current);
}

/** The review of an answer that is there for one kind only. */
function hiding(): Work {
  const kind = { name: 'kind', type: 'short_text', input: 'contributor' };
  const answer = { ...kind, name: 'answer', visible_when: { field: 'kind', op: 'eq', value: 'sum' } };
  const [reviewed] = sampleReview().reviewed;
  const both = { ...reviewed, fields: ['kind', 'answer'], values: { kind: 'sum', answer: '41' } };
  return sampleReview({ fields: [kind, answer], reviewed: [both] } as never);
}

test('an answer that a correction empties is told before it is sent', () => {
  expect(said({ answer: '  ' })).toEqual({ answer: 'Cannot be emptied by a correction; reject it instead.' });
  expect(said({ answer: null })).toEqual({ answer: 'Cannot be emptied by a correction; reject it instead.' });
  expect(said({ answer: '42' })).toEqual({});
  expect(said({})).toEqual({});
});

test('what is no JSON yet is no correction', () => {
  const review = sampleReview();
  const fields = [{ name: 'answer', title: 'Answer', type: 'json', input: 'contributor' }] as unknown as Work['fields'];
  expect(said({ answer: unparsed('{"a":') }, { ...review, fields })).toEqual({ answer: 'This is not valid JSON.' });
  expect(said({ answer: unparsed('[12345678901234567]') }, { ...review, fields })).toEqual({
    answer: 'A number here has more digits than can be kept: put it in double quotes.',
  });
  expect(said({ answer: { a: 1 } }, { ...review, fields })).toEqual({});
});

test('nothing is wrong with what another correction hides', () => {
  const work = hiding();
  expect(said({ answer: null }, work)).toEqual({ answer: 'Cannot be emptied by a correction; reject it instead.' });
  expect(said({ answer: null, kind: 'none' }, work)).toEqual({});
  expect(said({ answer: unparsed('{"a":'), kind: 'none' }, work)).toEqual({});
});

test('a refusal is of what was sent, and of what can be seen', () => {
  const refusal = new APIError(422, 'invalid', 'no', [{ field: 'answer', message: 'is taken' }]);
  const about = (answers: Values, shown = {}) =>
    Object.fromEntries(refusedFixes(refusal, { answer: '42', kind: 'x' }, answers, shown));
  expect(about({ answer: '42', kind: 'y' })).toEqual({ answer: 'Is taken.' });
  expect(about({ answer: '43', kind: 'x' })).toEqual({});
  expect(about({ kind: 'x' })).toEqual({});
  expect(about({ answer: '42' }, { answer: false })).toEqual({});
});
