import { afterEach, expect, test, vi } from 'vitest';
import { consoleAPI, Refused } from '@/testing/claimPage';
import { nodeActions, release, taskActions } from './actions';

afterEach(() => vi.unstubAllGlobals());

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

test.each([
  ['this release', [{ reason: 'away', held_by: 5 }]],
  ['the one before', [{ reason: 'away', held_by: 5 }, { reason: 'away' }]],
])('a claim is released from who was seen with it, where the server of %s can tell', async (server, bodies) => {
  const sent: unknown[] = [];
  consoleAPI({
    'POST /tasks/7/nodes/solve/release': (body) => {
      sent.push(body);
      if (server === 'the one before' && Object.hasOwn(body as object, 'held_by'))
        throw new Refused(422, 'the body does not fit', [{ path: 'held_by', message: 'unexpected property' }]);
    },
  });
  await release.run({ pipelineId: 3, taskId: 7, node: 'solve', heldBy: 5 }, ' away ');
  expect(sent).toEqual(bodies);
});
