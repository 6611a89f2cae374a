/** The largest number of a person's characters that a message repeats. */
export const quoteLimit = 60;
/** The largest number of choices that a message lists. */
const listLimit = 10;

/** Shows at most quoteLimit characters of s in quotes, control characters made visible. */
export function quote(s: string): string {
  const head: string[] = [];
  for (const char of s) {
    if (head.length === quoteLimit) return `${JSON.stringify(head.join('')).slice(0, -1)}…"`;
    head.push(char);
  }
  return JSON.stringify(s);
}

/** "a", "b" or "c". */
export function list(choices: readonly string[]): string {
  let out = '';
  for (const [i, choice] of choices.entries()) {
    if (i === listLimit) return `${out} or ${choices.length - i} more`;
    if (i > 0) out += i === choices.length - 1 ? ' or ' : ', ';
    out += quote(choice);
  }
  return out;
}

export function plural(n: number, one: string, many: string): string {
  return n === 1 ? `1 ${one}` : `${n} ${many}`;
}
