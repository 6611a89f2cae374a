import type { Attempt, Comment, Work } from '@/api';

/** What a reviewer said about one field. */
export interface FieldRemark {
  verdict?: 'ok' | 'wrong';
  texts: string[];
}

/** The remarks of a rejection by field; '' has those on the work as a whole. */
export function remarksOf(comments: readonly Comment[]): Map<string, FieldRemark> {
  const byField = new Map<string, FieldRemark>();
  for (const c of comments) {
    const remark = byField.get(c.field ?? '') ?? { texts: [] };
    if (c.text) remark.texts.push(c.text);
    if (c.verdict) remark.verdict = c.verdict;
    byField.set(c.field ?? '', remark);
  }
  return byField;
}

/** The attempt that came back last; undefined when this one is the first. */
export function lastAttempt(work: Pick<Work, 'earlier'>): Attempt | undefined {
  return work.earlier.at(-1);
}
