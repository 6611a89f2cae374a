/** What admins do to many tasks at once. */
export type BulkAction = 'set_priority' | 'hold' | 'unhold' | 'release' | 'requeue' | 'fail';

export interface BulkFailure {
  task_id: number;
  message: string;
}

export interface BulkOutcome {
  done: number[];
  failed: BulkFailure[];
  /** Tasks that were never asked for: the work was stopped, or a request failed. */
  left: number[];
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
 * how far it is. Refused tasks are collected; a request that fails as a whole
 * ends the run, and what was not asked for is named as left.
 */
export async function runBulk(
  ids: readonly number[],
  send: (ids: number[]) => Promise<{ done: number[]; failed: BulkFailure[] }>,
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
      out.left.splice(0, chunk.length);
      progress({ ...out });
    } catch (error) {
      return { ...out, error };
    }
  }
  return out;
}
