import { bytes } from './count';
import { shapeOf } from './value';

/** The largest value, in bytes of its JSON; also the largest draft. */
export const maxValueBytes = 1 << 20;
const maxDepth = 64;
/** The most values inside a value. */
const maxParts = 100_000;

/** Half of a surrogate pair on its own. */
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The bytes of a value's JSON. */
export function jsonBytes(v: unknown): number {
  return bytes(JSON.stringify(v) ?? '');
}

/** Why a value of at most `most` bytes cannot be stored; empty when it can. */
export function sizeFault(v: unknown, most: number): string {
  const n = jsonBytes(v);
  return n > most ? `is too large: ${n} bytes, at most ${most} allowed` : '';
}

/** Why a value cannot be stored, whatever its size; empty when it can. */
export function storeFault(v: unknown): string {
  let parts = 0;
  const text = (s: string) => {
    if (s.includes('\0')) return 'holds the character U+0000, which cannot be stored';
    return lone.test(s) ? 'holds half of a surrogate pair (\\ud800 to \\udfff alone), which cannot be stored' : '';
  };
  const visit = (part: unknown, depth: number): string => {
    if (++parts > maxParts) return `has more than ${maxParts} parts`;
    const shape = shapeOf(part);
    if (shape === 'text') return text(part as string);
    if (shape === 'number') return Number.isFinite(part) ? '' : 'holds a number that is out of range';
    if (shape !== 'array' && shape !== 'object') return '';
    if (depth === maxDepth) return `is nested deeper than ${maxDepth} levels`;
    if (shape === 'array') return firstFault(part as unknown[], (item) => visit(item, depth + 1));
    return firstFault(Object.entries(part as object), ([key, item]) => text(key) || visit(item, depth + 1));
  };
  return visit(v, 0);
}

function firstFault<T>(list: readonly T[], fault: (item: T) => string): string {
  for (const item of list) {
    const found = fault(item);
    if (found) return found;
  }
  return '';
}
