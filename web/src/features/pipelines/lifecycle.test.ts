import { describe, expect, test } from 'vitest';
import { consequences, count, isDangerous, obstacle, verbsFor } from './lifecycle';

const none = { available: 0, claimed: 0, in_review: 0, open: 0, escalated: 0, quarantined: 0 };

test('the verbs follow the status', () => {
  expect(verbsFor('ACTIVE')).toEqual(['pause', 'complete']);
  expect(verbsFor('PAUSED')).toEqual(['resume', 'complete', 'archive']);
  expect(verbsFor('COMPLETED')).toEqual(['reopen', 'archive']);
  expect(verbsFor('ARCHIVED')).toEqual(['unarchive']);
  expect(verbsFor('DRAFT')).toEqual(['archive']);
  expect(verbsFor('PENDING_ACTIVATION')).toEqual([]);
});

describe('consequences', () => {
  test('are said in numbers', () => {
    const lines = consequences('pause', { ...none, available: 1200, claimed: 1, in_review: 4, open: 1210 });
    expect(lines[0]).toContain('1,210 open tasks will show as paused');
    expect(lines[1]).toBe('1,204 pieces of work leave the queues.');
    expect(lines[2]).toMatch(/^1 piece of work is being done now/);
    expect(lines[4]).toMatch(/^Time limits run on/);
  });
  test('leave out what does not apply', () => {
    expect(consequences('pause', none)).toHaveLength(2);
    expect(consequences('complete', none).join(' ')).toContain('nothing is left undone');
    expect(consequences('archive', none)).toHaveLength(1);
    expect(consequences('resume', { ...none, open: 1 }).join(' ')).toContain('1 open task goes on');
  });
  test.each(['escalated', 'quarantined'])('do not call paused what is %s', (aside) => {
    const [line] = consequences('pause', { ...none, open: 3, [aside]: 1 });
    expect(line).toMatch(/will show as paused, but for those/);
    expect(line).not.toContain('3');
  });
});

test('only a pipeline without open tasks can be completed', () => {
  expect(obstacle('complete', { open: 12 })).toBe('It still has 12 open tasks: finish or fail them first.');
  expect(obstacle('complete', { open: 1 })).toBe('It still has 1 open task: finish or fail it first.');
  expect(obstacle('complete', none)).toBeUndefined();
  expect(obstacle('archive', { open: 12 })).toBeUndefined();
});

test('counting and danger', () => {
  expect(count(1, 'task')).toBe('1 task');
  expect(count(0, 'task')).toBe('0 tasks');
  expect(count(2, 'entry', 'entries')).toBe('2 entries');
  expect(isDangerous('archive')).toBe(true);
  expect(isDangerous('pause')).toBe(false);
});
