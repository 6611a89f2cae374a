import type { RE2JS } from 're2js';
import { chunk } from '@/lib/chunk';
import { bytes } from './count';
import type { Condition, Field } from './types';

/** Bounds the program times the bytes of the text, as the server does; a longer text does not match. */
const maxMatchSteps = 20_000_000;
/**
 * Beyond this product the browser leaves the rules of a text to the server: JavaScript takes longer than Go, and a tab
 * must not stand still while somebody types. Conditions cannot be left to it: what is hidden is not handed in.
 */
const maxLocalSteps = 4_000_000;
const maxPatternChars = 500;
/** Not more than the server compiles. */
const maxProgram = 2000;

let engine: typeof RE2JS | undefined;

/** Whether any field of the form matches a pattern. */
export function needsPatterns(fields: readonly Field[]): boolean {
  const inCondition = (c: Condition | undefined): boolean =>
    c !== undefined &&
    (c.op === 'matches' || inCondition(c.not) || [...(c.all ?? []), ...(c.any ?? [])].some(inCondition));
  return fields.some(
    (f) => f.rules?.pattern || f.columns?.some((col) => col.rules?.pattern) || inCondition(f.visible_when),
  );
}

/** RE2 is a large library: loaded when a form has a pattern. Until then patterns match nothing and refuse nothing. */
export async function loadPatterns(fields?: readonly Field[]): Promise<void> {
  if (engine || (fields && !needsPatterns(fields))) return;
  engine = (await chunk(() => import('re2js'))()).RE2JS;
}

export function patternsLoaded(): boolean {
  return engine !== undefined;
}

/** What matching a whole text came to; `unsure` when only the server can tell. */
export type Match = 'yes' | 'no' | 'too long' | 'unsure';

/** A compiled RE2 pattern. Matching takes time in proportion to the text, whatever the pattern. */
export interface Pattern {
  source: string;
  /** The longest text that is matched. */
  maxBytes: number;
  match: (s: string) => Match;
  /** Whether a whole text matches, as the server decides a condition, however long it takes; once for the same text. */
  holds: (s: string) => boolean;
}

/** undefined without a source, when it is no pattern, and before loadPatterns. */
export function compilePattern(source: string | undefined): Pattern | undefined {
  if (!source || !engine || [...source].length > maxPatternChars) return undefined;
  let re: RE2JS;
  try {
    re = engine.compile(source);
  } catch {
    return undefined;
  }
  const size = Math.max(1, re.programSize());
  if (size > maxProgram) return undefined;
  const maxBytes = Math.trunc(maxMatchSteps / size);
  const match = (s: string): Match => {
    const n = bytes(s);
    if (n > maxBytes) return 'too long';
    if (n * size > maxLocalSteps) return 'unsure';
    return re.matches(s) ? 'yes' : 'no';
  };
  // Every render asks for the same text again.
  let last: string | undefined;
  let held = false;
  const holds = (s: string): boolean => {
    if (s !== last) held = bytes(s) <= maxBytes && re.matches(s);
    last = s;
    return held;
  };
  return { source, maxBytes, match, holds };
}
