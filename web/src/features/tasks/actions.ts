import {
  body,
  bulkTasks,
  escalateNode,
  failTask,
  holdTask,
  quarantineNode,
  releaseNode,
  resolveNode,
  unholdTask,
  withNew,
} from '@/api';

/** What an admin can do to one task, or to one of its nodes. */
export interface Action {
  id: string;
  /** As on the button. */
  label: string;
  /** What it means, for the dialog. */
  about: string;
  danger?: boolean;
  /** Somebody else will have to understand it later. */
  reasonWanted?: boolean;
  run: (at: Place, reason: string) => Promise<unknown>;
}

export interface Place {
  pipelineId: number;
  taskId: number;
  /** Key of the node, for what is done to one. */
  node?: string;
  /** Who was seen with it. */
  heldBy?: number;
}

const given = (reason: string) => (reason.trim() ? { reason: reason.trim() } : {});
const at = (p: Place) => ({ task_id: p.taskId, key: p.node ?? '' });

export const hold: Action = {
  id: 'hold',
  label: 'Put on hold',
  about:
    'Nobody can claim its steps until it is taken off hold. Who holds one can still hand it in. Time limits run on.',
  reasonWanted: true,
  run: (p, reason) => holdTask({ path: { task_id: p.taskId }, body: given(reason) }),
};

export const unhold: Action = {
  id: 'unhold',
  label: 'Take off hold',
  about: 'Its steps can be claimed again.',
  run: (p, reason) => unholdTask({ path: { task_id: p.taskId }, body: given(reason) }),
};

export const fail: Action = {
  id: 'fail',
  label: 'Cancel the task',
  about:
    'The task ends as failed, and who holds a step of it loses it. This cannot be undone; what was handed in stays readable.',
  danger: true,
  reasonWanted: true,
  run: (p, reason) => failTask({ path: { task_id: p.taskId }, body: given(reason) }),
};

export const release: Action = {
  id: 'release',
  label: 'Release the claim',
  about: 'Who holds the step loses it, and it goes back to the queue. Their draft is kept.',
  reasonWanted: true,
  // Not whoever has been served it while the reason was typed.
  run: (p, reason) =>
    withNew({ held_by: p.heldBy }, (seen) => releaseNode({ path: at(p), body: { ...given(reason), ...seen } })),
};

export const escalate: Action = {
  id: 'escalate',
  label: 'Escalate',
  about: 'The step leaves the queue, or who holds it, and waits for an admin’s decision.',
  reasonWanted: true,
  run: (p, reason) => escalateNode({ path: at(p), body: given(reason) }),
};

export const quarantine: Action = {
  id: 'quarantine',
  label: 'Quarantine',
  about: 'Sets the step aside because something is wrong with it. It waits for an admin’s decision.',
  reasonWanted: true,
  run: (p, reason) => quarantineNode({ path: at(p), body: given(reason) }),
};

const resolve = (outcome: 'requeue' | 'accept' | 'skip', label: string, about: string): Action => ({
  id: outcome,
  label,
  about,
  reasonWanted: outcome !== 'requeue',
  run: (p, reason) => resolveNode({ path: at(p), body: { outcome, ...given(reason) } }),
});

export const requeue = resolve('requeue', 'Requeue', 'The step goes back to the queue for a new round, for everybody.');
export const accept = resolve(
  'accept',
  'Accept',
  'A form counts with what was handed in last, a review as passed. The task goes on.',
);
export const skip = resolve('skip', 'Skip', 'The task goes on without this step.');

export const resolutions = [requeue, accept, skip];

/** What can be done to a node of this status. */
export function nodeActions(status: string, over: boolean): Action[] {
  if (over) return [];
  switch (status) {
    case 'escalated':
      return [...resolutions, quarantine];
    case 'quarantined':
      return resolutions;
    case 'claimed':
      return [release, escalate, quarantine];
    case 'available':
    case 'submitted':
    case 'deferred':
      return [escalate, quarantine];
    case 'pending':
      return [quarantine];
    default:
      return [];
  }
}

/** What can be done to the task as a whole. */
export function taskActions(t: { status: string; held: boolean }): Action[] {
  if (t.status === 'finished' || t.status === 'failed') return [];
  return [t.held ? unhold : hold, fail];
}

export function setPriority(p: Place, priority: number) {
  return body(
    bulkTasks({
      path: { pipeline_id: p.pipelineId },
      body: { action: 'set_priority', task_ids: [p.taskId], priority },
    }),
  );
}
