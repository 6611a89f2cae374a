/** What the address of a pipeline's work says. */
export interface QueueSearch {
  role?: 'contributor' | 'reviewer';
  /** A certain task, and its step. */
  task?: number;
  node?: string;
  /** How the reviews that wait are sorted, when not by age. */
  order?: 'contributor';
  /** Whose work alone is listed there. */
  contributor?: number;
}

export function queueSearch(search: Record<string, unknown>): QueueSearch {
  const role = search.role === 'contributor' || search.role === 'reviewer' ? search.role : undefined;
  const task = id(search.task);
  const contributor = id(search.contributor);
  return {
    ...(role && { role }),
    ...(task && { task }),
    ...(typeof search.node === 'string' && { node: search.node }),
    ...(search.order === 'contributor' && { order: search.order }),
    ...(contributor && { contributor }),
  };
}

function id(v: unknown): number | undefined {
  const n = Number(v);
  return Number.isSafeInteger(n) && n > 0 ? n : undefined;
}
