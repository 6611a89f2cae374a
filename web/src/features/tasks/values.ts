import type { Field, TaskDetail, TaskSubmission } from '@/api';

type Values = Record<string, unknown>;

/** What a task knows now: seeded values and people's answers. The server tells what of all that was handed in counts. */
export function currentValues(t: Pick<TaskDetail, 'input' | 'answers'>): Values {
  return { ...t.input, ...t.answers };
}

/** Newest first, as the server lists them, turned around. */
export function oldestFirst(all: readonly TaskSubmission[]): TaskSubmission[] {
  return [...all].reverse();
}

/** One hand-in or verdict beside what it is compared with. */
export interface Round {
  submission: TaskSubmission;
  /** What the same node handed in the round before, or for a verdict the values that it fixed; null for a first one. */
  before: Values | null;
}

/** Every hand-in and verdict, oldest first, each with what came before it. */
export function rounds(t: Pick<TaskDetail, 'input' | 'submissions'>): Round[] {
  const latest = new Map<string, Values>();
  const known: Values = { ...t.input };
  return oldestFirst(t.submissions).map((s) => {
    const review = s.verdict !== '';
    const before = review ? pick(known, Object.keys(s.values)) : (latest.get(s.node) ?? null);
    if (s.undone_at) return { submission: s, before }; // what was taken back is nothing to compare with
    if (!review) latest.set(s.node, s.values);
    if (!review || s.verdict === 'approve') Object.assign(known, s.values);
    return { submission: s, before };
  });
}

/** Whether a review accepted the work only after it had corrected it. */
export function fixes(s: Pick<TaskSubmission, 'verdict' | 'values'>): boolean {
  return s.verdict === 'approve' && Object.keys(s.values).length > 0;
}

function pick(from: Values, keys: string[]): Values {
  return Object.fromEntries(keys.map((k) => [k, from[k]]));
}

/** A field's value as the form shows it: a static one's stands in its definition. */
export function shownValue(f: Pick<Field, 'name' | 'input' | 'value'>, values: Values): unknown {
  return f.input === 'static' ? f.value : values[f.name];
}
