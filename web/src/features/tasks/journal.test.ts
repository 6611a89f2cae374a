import { describe, expect, test } from 'vitest';
import type { TaskEvent } from '@/api';
import { reasonText, tell } from './journal';

const names = {
  person: (id: number) => (id === 1 ? 'Ada' : 'Rita'),
  node: (k: string) => (k === 'solve' ? 'Solve it' : 'Check it'),
};

function event(part: Partial<TaskEvent>): TaskEvent {
  return {
    seq: 1,
    kind: 'claim',
    node: 'solve',
    iteration: 1,
    actor: 1,
    outcome: '',
    reason: '',
    at: '2026-01-01T00:00:00Z',
    ...part,
  };
}

describe('tell', () => {
  test.each([
    [{ kind: 'create', node: '', actor: null }, 'Taskloom', 'created the task'],
    [{ kind: 'claim' }, 'Ada', 'claimed Solve it'],
    [{ kind: 'claim', iteration: 2 }, 'Ada', 'claimed Solve it (round 2)'],
    [{ kind: 'submit' }, 'Ada', 'handed in Solve it'],
    [{ kind: 'undo' }, 'Ada', 'took back what they handed in at Solve it'],
    [
      { kind: 'review', node: 'check', actor: 2, outcome: 'rejected' },
      'Rita',
      'rejected the work at Check it: it goes back',
    ],
    [
      { kind: 'review', node: 'check', actor: 2, outcome: 'approved', iteration: 3 },
      'Rita',
      'accepted the work at Check it (round 3)',
    ],
    [{ kind: 'resolve', actor: 2, outcome: 'skip' }, 'Rita', 'let the task go on without Solve it'],
    [{ kind: 'expire', actor: null }, 'Taskloom', 'took Solve it back: the time to work on it ran out'],
    [{ kind: 'fail', node: '' }, 'Ada', 'cancelled the task: it counts as failed'],
  ])('%o', (part, who, text) => {
    const told = tell(event(part), names);
    expect([told.who, told.text]).toEqual([who, text]);
  });

  test('an acceptance with corrections says so', () => {
    const e = event({ kind: 'review', node: 'check', actor: 2, outcome: 'approved', iteration: 2 });
    const verdict = {
      node: 'check',
      iteration: 2,
      author: 2,
      verdict: 'approve',
      values: { answer: '43' },
      comments: [],
      at: e.at,
      undone_at: null,
    };
    expect(tell(e, names, [verdict]).text).toBe('fixed and accepted the work at Check it (round 2)');
    const others = [
      { ...verdict, values: {} },
      { ...verdict, iteration: 1 },
      { ...verdict, node: 'audit' },
    ];
    expect(tell(e, names, others).text).toBe('accepted the work at Check it (round 2)');
  });

  test('a kind of tomorrow keeps its own name', () => {
    expect(tell(event({ kind: 'hand_over', outcome: 'x' }), names).text).toBe('hand over on Solve it (x)');
  });

  test('every kind of the server has words of its own', () => {
    const kinds =
      'create claim release submit review escalate quarantine resolve hold unhold fail expire auto undo'.split(' ');
    const texts = kinds.map((kind) => tell(event({ kind }), names).text);
    for (const [i, text] of texts.entries()) expect(text).not.toBe(`${kinds[i]} on Solve it`);
    expect(new Set(texts).size).toBe(kinds.length);
  });
});

test('system reasons become words, people’s stay', () => {
  expect(reasonText('max_rework')).toContain('rejected more often');
  expect(reasonText('person')).toBe('');
  expect(reasonText('the photo is blank')).toBe('the photo is blank');
});
