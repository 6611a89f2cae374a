/** How a lease stands. */
export interface LeaseState {
  /** Milliseconds left, 0 when it is over. */
  left: number;
  /** calm, then amber for the last fifth, then over. */
  phase: 'calm' | 'amber' | 'over';
}

/** The last share of a lease, which is shown in amber. */
const amber = 0.2;

/** How a lease of `total` milliseconds that ends at `ends` stands now. */
export function leaseState(ends: number, total: number, now: number): LeaseState {
  const left = Math.max(0, ends - now);
  if (left === 0) return { left, phase: 'over' };
  return { left, phase: left <= total * amber ? 'amber' : 'calm' };
}

/** Work extends the lease by itself once half of it is gone, … */
const extendBelow = 0.5;
/** … but not more often than this. */
const extendEvery = 30_000;

/** Whether somebody who just did something should get a full lease again. */
export function shouldExtend(ends: number, total: number, now: number, triedAt: number): boolean {
  const left = ends - now;
  return left > 0 && left < total * extendBelow && now - triedAt >= extendEvery;
}
