import type { Doc } from '@/pipeline/history';

/** What was typed and not yet saved, kept in this browser across a reload or a crash. */
export interface Mirrored {
  /** The revision of the draft that it was made from. */
  revision: number;
  doc: Doc;
  /** What was sent and not answered: the server may have it. */
  unanswered?: readonly Doc[];
  /** When it was kept, in milliseconds. */
  at: number;
}

/** What one page keeps of a pipeline. */
export interface Entry extends Mirrored {
  page: string;
}

/**
 * Each page has its own entry: what another tab has not saved is not this one's to write over, nor to drop. Without a
 * page it is what browsers kept before pages were told apart.
 */
const keyOf = (user: number, pipeline: number, page: string) =>
  `taskloom.builder.${user}.${pipeline}${page && '@'}${page}`;

export function keep(user: number, pipeline: number, page: string, kept: Mirrored) {
  try {
    localStorage.setItem(keyOf(user, pipeline, page), JSON.stringify(kept));
  } catch {
    // Private windows and full disks: the server's copy has to do.
  }
}

export function drop(user: number, pipeline: number, page: string) {
  try {
    localStorage.removeItem(keyOf(user, pipeline, page));
  } catch {
    // As above.
  }
}

/** Drops what a page took over from another one, unless that wrote it anew since: then it is alive. */
export function dropTaken(user: number, pipeline: number, entry: Entry) {
  if (read(keyOf(user, pipeline, entry.page))?.at === entry.at) drop(user, pipeline, entry.page);
}

/** The newest that any page kept; what others left comes when the builder is opened after that. */
export function recall(user: number, pipeline: number): Entry | null {
  const start = keyOf(user, pipeline, '');
  let newest: Entry | null = null;
  for (const key of keys()) {
    if (key !== start && !key.startsWith(`${start}@`)) continue;
    const kept = read(key);
    if (kept && !(newest && newest.at >= kept.at)) newest = { ...kept, page: key.slice(start.length + 1) };
  }
  return newest;
}

function read(key: string): Mirrored | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Mirrored | null;
    return kept?.doc?.definition && Array.isArray(kept.doc.definition.nodes) ? kept : null;
  } catch {
    return null;
  }
}

function keys(): string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}
