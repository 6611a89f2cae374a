import type { Pipeline } from '@/api';

const rank: Record<Pipeline['status'], number> = {
  ACTIVE: 0,
  PENDING_ACTIVATION: 1,
  PAUSED: 2,
  DRAFT: 3,
  COMPLETED: 4,
  ARCHIVED: 5,
};

/** What is at work first, then by name. */
export function inOrder<T extends Pick<Pipeline, 'status' | 'name'>>(pipelines: readonly T[]): T[] {
  return [...pipelines].sort((a, b) => rank[a.status] - rank[b.status] || a.name.localeCompare(b.name));
}
