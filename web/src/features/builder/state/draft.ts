import { asAPIError } from '@/api';
import type { Layout } from '@/pipeline/definition';
import { equal } from '@/pipeline/diff';
import type { Doc } from '@/pipeline/history';
import { normalize } from '@/pipeline/normalize';

/** A draft as the server has it. */
export interface Saved {
  revision: number;
  doc: Doc;
  by: string | null;
  at: string | null;
}

/**
 * How the draft stands against the server's. `base` is what both last agreed
 * on; `theirs` is there when somebody else saved since, and then nothing is
 * saved until a person decided.
 */
export interface DraftState {
  base: Saved;
  theirs: Saved | null;
  phase: 'idle' | 'saving' | 'offline' | 'refused';
  error: unknown;
  /** What the server refused: it is not sent again before it was edited. */
  refused: Doc | null;
  /** Sent without an answer, since `base`: the server may have one of these, and then it is nobody else's. */
  unanswered: readonly Doc[];
}

export type DraftEvent =
  | { type: 'sent' }
  | { type: 'saved'; saved: Saved }
  /** Without a document, the server was only asked what it has, and is asked again by itself. */
  | { type: 'failed'; error: unknown; doc: Doc | null; offline: boolean }
  /** The server's draft, by polling or after a refusal. */
  | { type: 'seen'; saved: Saved }
  /** The server's draft, asked for before the next save. */
  | { type: 'asked'; saved: Saved }
  /** The nodes were laid out for the first time here: nothing that anybody did. */
  | { type: 'placed'; layout: Layout }
  | { type: 'took' }
  | { type: 'kept' };

export function opened(saved: Saved): DraftState {
  return { base: saved, theirs: null, phase: 'idle', error: null, refused: null, unanswered: [] };
}

export function step(s: DraftState, e: DraftEvent): DraftState {
  switch (e.type) {
    case 'sent':
      return { ...s, phase: 'saving', error: null };
    case 'saved':
      return {
        ...s,
        base: e.saved,
        theirs: newer(s.theirs, e.saved.revision),
        phase: 'idle',
        error: null,
        refused: null,
        unanswered: [],
      };
    case 'failed':
      return {
        ...s,
        phase: e.offline ? 'offline' : 'refused',
        error: e.error,
        refused: e.offline ? null : e.doc,
        unanswered: e.offline && e.doc ? remember(s.unanswered, e.doc, e.error) : s.unanswered,
      };
    case 'asked':
      return step({ ...s, phase: 'idle' }, { type: 'seen', saved: e.saved });
    case 'seen': {
      // While a save is under way the newer revision may be our own.
      if (s.phase === 'saving' || e.saved.revision <= s.base.revision) return s;
      if (s.theirs && s.theirs.revision >= e.saved.revision) return s;
      if (s.unanswered.some((d) => same({ ...d, definition: normalize(d.definition) }, e.saved.doc))) {
        return opened(e.saved);
      }
      return { ...s, theirs: e.saved, phase: 'idle', error: null, refused: null };
    }
    case 'placed':
      return { ...s, base: { ...s.base, doc: { ...s.base.doc, layout: e.layout } } };
    case 'took':
    case 'kept':
      // Either way theirs is now what the next save starts from.
      return s.theirs ? opened(s.theirs) : s;
  }
}

/** As many saves without an answer are remembered: all of them are kept in the browser with every edit. */
const unansweredMost = 20;

function remember(unanswered: readonly Doc[], doc: Doc, error: unknown): readonly Doc[] {
  if (asAPIError(error).status === 429) return unanswered; // it was turned away before anything was done
  return [...unanswered.filter((d) => !same(d, doc)), doc].slice(-unansweredMost);
}

function newer(theirs: Saved | null, revision: number): Saved | null {
  return theirs && theirs.revision > revision ? theirs : null;
}

export type Chip = 'saved' | 'unsaved' | 'saving' | 'offline' | 'conflict' | 'refused';

export function chipOf(s: DraftState, doc: Doc): Chip {
  if (s.theirs) return 'conflict';
  if (s.phase === 'offline' || s.phase === 'refused' || s.phase === 'saving') return s.phase;
  return same(s.base.doc, doc) ? 'saved' : 'unsaved';
}

export function same(a: Doc, b: Doc): boolean {
  return (
    a === b ||
    ((a.definition === b.definition || equal(a.definition, b.definition)) &&
      (a.layout === b.layout || equal(a.layout, b.layout)))
  );
}
