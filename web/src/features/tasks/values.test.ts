import { expect, test } from 'vitest';
import type { TaskSubmission } from '@/api';
import { currentValues, rounds, shownValue } from './values';

const sub = (part: Partial<TaskSubmission>): TaskSubmission => ({
  node: 'solve',
  iteration: 1,
  author: 1,
  verdict: '',
  values: {},
  comments: [],
  at: '2026-01-01T00:00:00Z',
  ...part,
});

const task = {
  input: { question: 'q' },
  // Newest first, as the server answers.
  submissions: [
    sub({ node: 'check', verdict: 'approve', iteration: 2, values: { answer: '42!' } }),
    sub({ iteration: 2, values: { answer: '42' } }),
    sub({ node: 'check', verdict: 'reject', values: {} }),
    sub({ values: { answer: '41' } }),
  ],
};

test('the newest hand-in counts, with the reviewer’s fix on top', () => {
  expect(currentValues(task)).toEqual({ question: 'q', answer: '42!' });
});

test('each round is compared with the one before, a fix with what it fixed', () => {
  expect(rounds(task).map((r) => [r.submission.verdict, r.before])).toEqual([
    ['', null],
    ['reject', {}],
    ['', { answer: '41' }],
    ['approve', { answer: '42' }],
  ]);
});

test('a static field shows what its definition says', () => {
  expect(shownValue({ name: 'guide', input: 'static', value: 'Do it.' }, { guide: 'x' })).toBe('Do it.');
});
