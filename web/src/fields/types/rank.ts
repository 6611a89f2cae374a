import { normalText } from '../engine/count';
import { equal, itemsOf } from '../engine/value';

/** A line of a ranking: an item, and whether it is as good as the one above. */
export interface Ranked {
  id: string;
  tied: boolean;
}

/** The lines of a value; items that it does not rank come last, in their own order. */
export function linesOf(value: unknown, items: readonly string[]): Ranked[] {
  const lines: Ranked[] = [];
  const left = new Set(items);
  for (const entry of itemsOf(value)) {
    let first = true;
    for (const ranked of Array.isArray(entry) ? entry : [entry]) {
      const id = typeof ranked === 'string' ? normalText(ranked) : undefined;
      if (id === undefined || !left.delete(id)) continue;
      lines.push({ id, tied: !first });
      first = false;
    }
  }
  return [...lines, ...[...left].map((id) => ({ id, tied: false }))];
}

/** The value of lines: an item that stands alone is bare, equals are a group. */
export function rankingOf(lines: readonly Ranked[]): (string | string[])[] {
  const groups: string[][] = [];
  for (const { id, tied } of lines) {
    const above = groups.at(-1);
    if (tied && above) above.push(id);
    else groups.push([id]);
  }
  return groups.map((group) => (group.length === 1 ? (group[0] ?? '') : group));
}

/** Whether a value says what these lines show: no item more, none less, in this order. */
export function ranks(value: unknown, lines: readonly Ranked[]): boolean {
  const bare = itemsOf(value).map((entry) => (Array.isArray(entry) && entry.length === 1 ? entry[0] : entry));
  return equal(bare, rankingOf(lines));
}

/** Moves a line; it leaves its equals, and who was tied to it is tied to the one above. */
export function moveLine(lines: readonly Ranked[], from: number, to: number): Ranked[] {
  const moved = lines[from];
  if (!moved || to < 0 || to >= lines.length || from === to) return [...lines];
  const rest = lines.filter((_, i) => i !== from);
  const after = rest[from];
  if (after?.tied && !moved.tied) rest[from] = { ...after, tied: false };
  // Between equals it becomes one of them, so that no group is torn apart.
  rest.splice(to, 0, { id: moved.id, tied: rest[to]?.tied ?? false });
  const first = rest[0];
  if (first?.tied) rest[0] = { ...first, tied: false };
  return rest;
}

/** The place of each line, from 1; equals share one. */
export function placesOf(lines: readonly Ranked[]): number[] {
  let place = 0;
  return lines.map((line) => (line.tied ? place : ++place));
}
