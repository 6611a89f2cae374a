import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Work } from '@/api';
import { type Field, Form, type Values } from '@/fields/rules';
import { unparsed } from '@/fields/unparsed';
import { sampleReview } from '@/testing/claimPage';
import { useFixProblems } from './useFixProblems';

/** What is said about corrections of a review. */
function said(answers: Values, work: Work = sampleReview()) {
  const form = new Form(work.fields as unknown as Field[]);
  return Object.fromEntries(renderHook(() => useFixProblems(form, work, answers, null)).result.current);
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
  expect(said({ answer: { a: 1 } }, { ...review, fields })).toEqual({});
});
