import type { Doc } from '@/pipeline/history';
import { normalize } from '@/pipeline/normalize';
import { type DraftState, opened, type Saved, same } from './draft';
import type { Entry } from './mirror';

export interface Start {
  draft: DraftState;
  /** What is shown first. */
  doc: Doc;
  /** When what came back was kept, in milliseconds; null when nothing did. */
  keptAt: number | null;
  /** What was taken over, or found to be saved: it is not needed any more once this page has kept its own. */
  taken: Entry | null;
}

/**
 * The builder begins with what this browser kept and the server does not have, else with the server's draft. Null:
 * `saved` is an answer from before a save that was kept, and a `fresh` one has to come first; what was kept would be
 * taken for old, and dropped.
 */
export function startOf(kept: Entry | null, saved: Saved, fresh: boolean): Start | null {
  const server = { draft: opened(saved), doc: saved.doc, keptAt: null, taken: kept };
  if (!kept) return server;
  const ahead = kept.revision > saved.revision;
  if (ahead && !fresh) return null;
  const doc = { definition: normalize(kept.doc.definition), layout: kept.doc.layout ?? {} };
  if (same(doc, saved.doc)) return server;
  // Made from an older revision, the draft that was just read counts as somebody else's save. So it does when the
  // server went back, as to a backup: a person decides.
  const base = { ...saved, revision: ahead ? saved.revision - 1 : kept.revision };
  return { draft: { ...opened(base), unanswered: kept.unanswered ?? [] }, doc, keptAt: kept.at, taken: kept };
}
