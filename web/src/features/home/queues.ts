import type { Queue } from '@/api';

/** The server counts no further. */
const countMost = 100;

export function most(n: number): string {
  return n >= countMost ? `${countMost}+` : String(n);
}

/** What the person could do or go on with. */
export function workIn(q: Queue): number {
  return q.available + q.returned + q.mine;
}

/** What is kept for the person first, then where most can be had, then the names. */
export function byNeed(queues: readonly Queue[]): Queue[] {
  const kept = (q: Queue) => q.returned + q.mine;
  return [...queues].sort(
    (a, b) => kept(b) - kept(a) || b.available - a.available || a.pipeline.localeCompare(b.pipeline),
  );
}
