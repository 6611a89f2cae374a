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
  undone_at: null,
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

test('what is known is what was given and what the server counts as answered', () => {
  const undone = sub({ values: { answer: '43' }, undone_at: '2026-01-01T00:00:30Z' });
  const now = { ...task, answers: { answer: '42!' }, submissions: [undone, ...task.submissions] };
  expect(currentValues(now)).toEqual({ question: 'q', answer: '42!' });
});

test('nothing is compared with what was taken back', () => {
  const all = [
    sub({ node: 'check', verdict: 'approve', values: { answer: '44' } }),
    sub({ iteration: 3, values: { answer: '43' } }),
    sub({ iteration: 2, values: { answer: '42' }, undone_at: '2026-01-01T00:00:30Z' }),
    sub({ values: { answer: '41' } }),
  ];
  expect(rounds({ input: {}, submissions: all }).map((r) => r.before)).toEqual([
    null,
    { answer: '41' },
    { answer: '41' },
    { answer: '43' },
  ]);
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
