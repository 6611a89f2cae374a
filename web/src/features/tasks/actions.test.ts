import { expect, test } from 'vitest';
import { nodeActions, taskActions } from './actions';

const ids = (status: string, over = false) => nodeActions(status, over).map((a) => a.id);

test('what an admin may do follows the node’s status', () => {
  expect(ids('escalated')).toEqual(['requeue', 'accept', 'skip', 'quarantine']);
  expect(ids('quarantined')).toEqual(['requeue', 'accept', 'skip']);
  expect(ids('claimed')).toContain('release');
  expect(ids('available')).not.toContain('release');
  expect(ids('finished')).toEqual([]);
  expect(ids('na')).toEqual([]);
});

test('nothing is done to what is over', () => {
  expect(ids('escalated', true)).toEqual([]);
  expect(taskActions({ status: 'failed', held: false })).toEqual([]);
  expect(taskActions({ status: 'finished', held: true })).toEqual([]);
});

test('hold and its opposite', () => {
  expect(taskActions({ status: 'pending', held: false }).map((a) => a.id)).toEqual(['hold', 'fail']);
  expect(taskActions({ status: 'paused', held: true }).map((a) => a.id)).toEqual(['unhold', 'fail']);
});
