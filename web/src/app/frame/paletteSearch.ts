/** Something to go to or to do. */
export interface Entry {
  id: string;
  label: string;
  /** Where it belongs: the project of a pipeline. */
  hint?: string;
  group: string;
  /** Words that people may type for it. */
  also?: string;
  keys?: string;
  run: () => void;
}

const groupsAtMost = 8;

/**
 * What fits the text, best first. Words may come in any order; each has to
 * begin a word of the entry, or else to be inside of it, which counts less.
 */
export function search(entries: readonly Entry[], text: string): Entry[] {
  const words = plain(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...entries];
  const scored: { entry: Entry; score: number }[] = [];
  for (const entry of entries) {
    const score = scoreOf(entry, words);
    if (score > 0) scored.push({ entry, score });
  }
  scored.sort((a, b) => b.score - a.score || a.entry.label.length - b.entry.label.length);
  const perGroup = new Map<string, number>();
  return scored
    .filter(({ entry }) => {
      const n = (perGroup.get(entry.group) ?? 0) + 1;
      perGroup.set(entry.group, n);
      return n <= groupsAtMost;
    })
    .map(({ entry }) => entry);
}

function scoreOf(entry: Entry, words: string[]): number {
  const label = plain(entry.label);
  const rest = plain(`${entry.hint ?? ''} ${entry.also ?? ''}`);
  let score = 0;
  for (const word of words) {
    const best = Math.max(scoreIn(label, word) * 3, scoreIn(rest, word));
    if (best === 0) return 0;
    score += best;
  }
  return score + (label.startsWith(words.join(' ')) ? 10 : 0);
}

function scoreIn(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  return at === 0 || text.includes(` ${word}`) || text.includes(`-${word}`) ? 2 : 1;
}

/** Without case and accents. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
}

/** The task that the text names: "123", "#123", "task 123". */
export function taskNumber(text: string): number | undefined {
  const found = /^\s*(?:task\s*)?#?\s*(\d{1,15})\s*$/i.exec(text);
  const n = found ? Number(found[1]) : 0;
  return n > 0 ? n : undefined;
}
