import type { Comment, Remark, Reviewed, ReviewRequest } from '@/api';
import { empty } from '@/fields/rules';
import { sameValue } from '@/ui/textDiff';

type Values = Record<string, unknown>;

/** What a reviewer says about one field. */
export interface Note {
  verdict?: 'ok' | 'wrong';
  text: string;
}

/** What a reviewer says, before it is handed in: by field, and about the work as a whole. */
export interface Notes {
  fields: Record<string, Note>;
  overall: string;
}

export const noNotes: Notes = { fields: {}, overall: '' };

/** Whether anything is said. */
export function anything(notes: Notes): boolean {
  return Boolean(notes.overall) || Object.values(notes.fields).some((n) => n.text || n.verdict);
}

/** The notes of a review that was taken back, to go on from. */
export function notesFrom(comments: readonly Comment[]): Notes {
  const out: Notes = { fields: {}, overall: '' };
  for (const c of comments) {
    if (!c.field) out.overall = [out.overall, c.text].filter(Boolean).join('\n');
    else out.fields[c.field] = { text: c.text, ...(c.verdict ? { verdict: c.verdict } : {}) };
  }
  return out;
}

/** Reads notes that a browser kept, whatever it kept. */
export function parseNotes(raw: unknown): Notes | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const { fields, overall } = raw as { fields?: unknown; overall?: unknown };
  if (typeof fields !== 'object' || fields === null) return null;
  const out: Notes = { fields: {}, overall: typeof overall === 'string' ? overall : '' };
  for (const [name, n] of Object.entries(fields as Record<string, Partial<Note> | null>)) {
    if (!n || typeof n.text !== 'string') continue;
    out.fields[name] = { text: n.text, ...(n.verdict === 'ok' || n.verdict === 'wrong' ? { verdict: n.verdict } : {}) };
  }
  return out;
}

/** The notes as the server takes them: empty ones left out. */
export function remarks(notes: Notes, reviewed: readonly Reviewed[]): Remark[] {
  const known = new Set(reviewed.flatMap((r) => r.fields));
  const out: Remark[] = [];
  for (const [field, n] of Object.entries(notes.fields)) {
    const text = n.text.trim();
    if (!known.has(field) || (!text && !n.verdict)) continue;
    out.push({ field, ...(text ? { text } : {}), ...(n.verdict ? { verdict: n.verdict } : {}) });
  }
  const overall = notes.overall.trim();
  if (overall) out.push({ text: overall });
  return out;
}

/** The corrections that differ from what was handed in. */
export function fixes(answers: Values, reviewed: readonly Reviewed[]): Values {
  const out: Values = {};
  for (const r of reviewed) {
    for (const name of r.fields) {
      if (!Object.hasOwn(answers, name)) continue;
      const fixed = answers[name] ?? null;
      if (!sameValue(fixed, r.values[name])) out[name] = fixed;
    }
  }
  return out;
}

/** The corrections that would leave nothing of an answer. The server takes none: what is missing is for its author to say. */
export function emptied(fixed: Values, reviewed: readonly Reviewed[]): string[] {
  const had = (name: string) => reviewed.some((r) => r.fields.includes(name) && !empty(r.values[name]));
  return Object.keys(fixed).filter((name) => empty(fixed[name]) && had(name));
}

/** The fields that the reviewer called wrong, in the order of the review. */
export function wrongFields(notes: Notes, reviewed: readonly Reviewed[]): string[] {
  return reviewed.flatMap((r) => r.fields).filter((f) => notes.fields[f]?.verdict === 'wrong');
}

/** The fields that are neither judged nor fixed yet. */
export function unjudged(notes: Notes, fixed: Values, reviewed: readonly Reviewed[]): string[] {
  return reviewed.flatMap((r) => r.fields).filter((f) => !notes.fields[f]?.verdict && !Object.hasOwn(fixed, f));
}

/**
 * The subtasks that a rejection returns: those with a field that is wrong or
 * criticized. None is named when no field is: then all go back.
 */
export function returned(notes: Notes, reviewed: readonly Reviewed[]): string[] {
  return reviewed
    .filter((r) =>
      r.fields.some((f) => {
        const n = notes.fields[f];
        return n?.verdict === 'wrong' || (n?.verdict !== 'ok' && Boolean(n?.text.trim()));
      }),
    )
    .map((r) => r.node);
}

export type Verdict = ReviewRequest['verdict'];

/** Why a verdict cannot be given yet; "" when it can. */
export function missing(verdict: Verdict, notes: Notes, reviewed: readonly Reviewed[]): string {
  if (verdict === 'approve') return '';
  const said = remarks(notes, reviewed).some((r) => r.text);
  if (said) return '';
  return verdict === 'reject'
    ? 'Say what is wrong, here or at a field: whoever gets it back has to know.'
    : 'Say why an admin should look at it.';
}

/** What is sent for a verdict. */
export function request(verdict: Verdict, notes: Notes, answers: Values, reviewed: readonly Reviewed[]): ReviewRequest {
  const comments = remarks(notes, reviewed);
  const out: ReviewRequest = { verdict, ...(comments.length > 0 ? { comments } : {}) };
  if (verdict === 'approve') {
    const values = fixes(answers, reviewed);
    if (Object.keys(values).length > 0) out.values = values;
  }
  if (verdict === 'reject') {
    const nodes = returned(notes, reviewed);
    if (nodes.length > 0) out.nodes = nodes;
  }
  return out;
}
