import type { Work } from '@/api';

/**
 * The round that a piece of work is in: what is kept of one is not laid over the next. A review that was withdrawn comes
 * back in the same iteration of its own, with other answers under it: theirs belong to its round.
 */
export function roundOf(work: Pick<Work, 'iteration' | 'reviewed'>): string {
  const under = work.reviewed.map((r) => `${r.node}:${r.iteration}`).sort();
  return [work.iteration, ...under].join(',');
}
