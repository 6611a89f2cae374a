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

const key = (user: number, pipeline: number) => `taskloom.builder.${user}.${pipeline}`;

export function keep(user: number, pipeline: number, kept: Mirrored) {
  try {
    localStorage.setItem(key(user, pipeline), JSON.stringify(kept));
  } catch {
    // Private windows and full disks: the server's copy has to do.
  }
}

export function drop(user: number, pipeline: number) {
  try {
    localStorage.removeItem(key(user, pipeline));
  } catch {
    // As above.
  }
}

export function recall(user: number, pipeline: number): Mirrored | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key(user, pipeline)) ?? 'null') as Mirrored | null;
    return kept?.doc?.definition && Array.isArray(kept.doc.definition.nodes) ? kept : null;
  } catch {
    return null;
  }
}
