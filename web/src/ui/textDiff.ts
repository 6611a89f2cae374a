import { diffLines, diffWordsWithSpace } from 'diff';

/** A stretch of text that both sides have, or one of them only. */
export interface Segment {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Above this many characters a comparison by word takes too long; lines are compared then. */
const wordLimit = 20_000;
/** How long one comparison may take, in milliseconds. */
const patience = 300;

/** What changed between two texts, by word; by line when they are long. */
export function wordDiff(before: string, after: string): Segment[] {
  if (before === after) return before === '' ? [] : [{ kind: 'same', text: before }];
  const long = before.length + after.length > wordLimit;
  const limits = { timeout: patience };
  const changes = long ? diffLines(before, after, limits) : diffWordsWithSpace(before, after, limits);
  if (!changes) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  }
  return changes
    .filter((c) => c.value !== '')
    .map((c) => ({ kind: c.added ? 'added' : c.removed ? 'removed' : 'same', text: c.value }));
}

/** A value of any field type as text that people can compare. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((v) => typeof v === 'string' || typeof v === 'number')) {
    return value.join('\n');
  }
  return JSON.stringify(value, null, 2);
}

/** Whether two answers say the same. Object keys may stand in any order. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if ((a ?? null) === null || (b ?? null) === null) return (a ?? null) === (b ?? null);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => sameValue(v, b[i]));
  }
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(x), ...Object.keys(y)]);
  return [...keys].every((k) => sameValue(x[k], y[k]));
}
