import { type Definition, namePattern } from './definition';

/** A text as a key or name: "Final answer!" becomes "final_answer". */
export function slug(text: string, fallback: string): string {
  const s = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .replace(/_+$/, '')
    .slice(0, 63)
    .replace(/_+$/, '');
  return namePattern.test(s) ? s : fallback;
}

/** The name, numbered when it is taken: answer, answer_2, answer_3. */
export function unique(name: string, taken: Iterable<string>): string {
  const used = new Set(taken);
  if (!used.has(name)) return name;
  const stem = name.replace(/_\d+$/, '');
  for (let n = 2; ; n++) {
    const tail = `_${n}`;
    const next = stem.slice(0, 63 - tail.length) + tail;
    if (!used.has(next)) return next;
  }
}

export function nodeKeys(d: Definition): string[] {
  return d.nodes.map((n) => n.key);
}

export function fieldNames(d: Definition): string[] {
  return d.nodes.flatMap((n) => (n.fields ?? []).map((f) => f.name));
}
