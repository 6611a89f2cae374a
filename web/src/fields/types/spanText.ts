import { normalText, spaceChar } from '../engine/count';
import { isObject, itemsOf, member } from '../engine/value';

/** A marked part of a text; offsets in code points, end excluded. */
export interface Span {
  start: number;
  end: number;
  label: string;
  text?: string;
}

/** A run of the text under the same spans. */
export interface Segment {
  start: number;
  text: string;
  /** Indexes of the spans that cover it. */
  spans: number[];
  selected: boolean;
}

/** The code points of a text as spans count them. */
export function pointsOf(text: unknown): string[] {
  return [...normalText(typeof text === 'string' ? text : '')];
}

/** The spans of a value whose offsets are numbers. */
export function spansOf(value: unknown): Span[] {
  return itemsOf(value).filter(
    (s): s is Span & Record<string, unknown> =>
      isObject(s) && Number.isInteger(member(s, 'start')) && Number.isInteger(member(s, 'end')),
  );
}

/** Cuts the text where a span or the selection begins or ends. */
export function segmentsOf(points: readonly string[], spans: readonly Span[], selection?: [number, number]): Segment[] {
  const [from, to] = selection ?? [0, 0];
  const cuts = new Set([0, points.length, from, to]);
  for (const s of spans) {
    cuts.add(s.start);
    cuts.add(s.end);
  }
  const sorted = [...cuts].filter((n) => n >= 0 && n <= points.length).sort((a, b) => a - b);
  const segments: Segment[] = [];
  for (const [i, start] of sorted.entries()) {
    const end = sorted[i + 1];
    if (end === undefined || end === start) continue;
    segments.push({
      start,
      text: points.slice(start, end).join(''),
      spans: spans.flatMap((s, j) => (s.start < end && s.end > start ? [j] : [])),
      selected: from < end && to > start,
    });
  }
  return segments;
}

/** The selection without white space at its ends; undefined when nothing is left. */
export function trimmed(points: readonly string[], from: number, to: number): [number, number] | undefined {
  let [start, end] = from <= to ? [from, to] : [to, from];
  while (start < end && spaceChar.test(points[start] ?? '')) start++;
  while (end > start && spaceChar.test(points[end - 1] ?? '')) end--;
  return start < end ? [start, end] : undefined;
}

/** The next place of the caret: one character, or to the far end of a word. */
export function step(points: readonly string[], at: number, by: 1 | -1, wordwise: boolean): number {
  const isSpace = (i: number) => spaceChar.test(points[i] ?? ' ');
  let i = at + by;
  if (wordwise) {
    const look = by > 0 ? 0 : -1;
    i = at;
    while (i + look >= 0 && i + look < points.length && isSpace(i + look)) i += by;
    while (i + look >= 0 && i + look < points.length && !isSpace(i + look)) i += by;
  }
  return Math.max(0, Math.min(points.length, i));
}

/** The spans with a new one, in the order of the text; the same label on the same place is there once. */
export function withSpan(spans: readonly Span[], points: readonly string[], at: [number, number], label: string) {
  const [start, end] = at;
  if (spans.some((s) => s.start === start && s.end === end && s.label === label)) return [...spans];
  const text = points.slice(start, end).join('');
  return [...spans, { start, end, label, text }].sort((a, b) => a.start - b.start || a.end - b.end);
}
