import { grouped } from '@/pipeline/grouped';

/** What admins do to many tasks at once. */
export type BulkAction = 'set_priority' | 'hold' | 'unhold' | 'release' | 'requeue' | 'fail';

export interface BulkFailure {
  task_id: number;
  message: string;
}

export interface BulkOutcome {
  done: number[];
  failed: BulkFailure[];
  /** Tasks that nothing was decided on: the work was stopped, a request failed, or the server broke off in one. */
  left: number[];
}

/** The refused tasks by the sentence that says why. A sentence names its task; beside many it is of each of them. */
export function byReason(failed: readonly BulkFailure[]): [string, number[]][] {
  const groups = grouped(failed, (f) => f.message.replace(new RegExp(`\\btask ${f.task_id}\\b`, 'g'), 'the task'));
  return groups.map(([reason, those]) => [reason, those.map((f) => f.task_id)]);
}

/** What comes of one request. */
interface Answer {
  done: number[];
  failed: BulkFailure[];
  left?: number[];
}

/**
 * The claims that were seen: by task, the time in milliseconds before which its newest one was made. It is of the
 * database's clock, as that tells since when they are held. No other clock says what a list was too early for.
 */
export type SeenClaims = ReadonlyMap<number, number>;

/** The claims that a list shows, besides those that were seen before on what is not in it. */
export function claimsSeen(
  tasks: readonly { id: number; at: readonly { status: string; since: string }[] }[],
  before: SeenClaims = new Map(),
): SeenClaims {
  const seen = new Map(before);
  for (const t of tasks) {
    // A Date cuts microseconds off, hence the one more.
    const claims = t.at.filter((n) => n.status === 'claimed').map((n) => Date.parse(n.since) + 1);
    if (claims.length > 0) seen.set(t.id, Math.max(...claims));
    else seen.delete(t.id);
  }
  return seen;
}

/** The time before which the claims on these tasks were made that were seen. Tasks of a request were listed together. */
export function asOf(seen: SeenClaims, ids: readonly number[]): string {
  return new Date(Math.max(0, ...ids.map((id) => seen.get(id) ?? 0))).toISOString();
}

/** The most tasks that the server takes in one request. */
export const bulkLimit = 200;

export function chunks<T>(all: readonly T[], size: number): T[][] {
  const out: T[][] = [];
  for (let i = 0; i < all.length; i += size) out.push(all.slice(i, i + size));
  return out;
}

/**
 * Sends one action for any number of tasks, a chunk after the other, and tells
 * how far it is. Refused tasks are collected; a request that fails, or in which
 * the server breaks off, ends the run, and what was not done is named as left.
 */
export async function runBulk(
  ids: readonly number[],
  send: (ids: number[]) => Promise<Answer>,
  progress: (outcome: BulkOutcome) => void,
  signal: AbortSignal,
): Promise<BulkOutcome & { error?: unknown }> {
  const out: BulkOutcome = { done: [], failed: [], left: [...ids] };
  for (const chunk of chunks(ids, bulkLimit)) {
    if (signal.aborted) break;
    try {
      const answer = await send(chunk);
      out.done.push(...answer.done);
      out.failed.push(...answer.failed);
      const left = answer.left ?? [];
      out.left.splice(0, chunk.length, ...left);
      progress({ ...out });
      if (left.length > 0) return { ...out, error: new Error('The server broke off. Try again in a moment.') };
    } catch (error) {
      return { ...out, error };
    }
  }
  return out;
}
