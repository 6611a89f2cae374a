/** The sizes of a text as rules count them. */
export interface Counts {
  /** Unicode code points. */
  chars: number;
  /** Maximal runs of what is not white space; scripts without spaces count a run as one word. */
  words: number;
  /** LFs plus one; a final LF begins no further line, an empty text has none. */
  lines: number;
}

/** White space of all rules, listed because JavaScript's \s and Go's unicode.IsSpace differ. */
const space = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
const word = new RegExp(`[^${space}]+`, 'gu');
const ink = new RegExp(`[^${space}]`, 'u');
/** White space, for one character. */
export const spaceChar = new RegExp(`[${space}]`, 'u');

/** CRLF becomes LF before texts are counted, compared or stored; a lone CR stays. */
export function normalText(s: string): string {
  return s.includes('\r\n') ? s.replaceAll('\r\n', '\n') : s;
}

/** Nothing but white space. */
export function blank(s: string): boolean {
  return !ink.test(s);
}

/** Code points, without making an array of them. */
export function chars(s: string): number {
  let n = s.length;
  for (let i = 0; i < s.length - 1; i++) {
    const unit = s.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = s.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      n--;
      i++;
    }
  }
  return n;
}

export function words(s: string): number {
  return s.match(word)?.length ?? 0;
}

export function lines(s: string): number {
  if (s === '') return 0;
  let n = s.endsWith('\n') ? 0 : 1;
  for (let i = s.indexOf('\n'); i >= 0; i = s.indexOf('\n', i + 1)) n++;
  return n;
}

/** Measures a text after CRLF became LF. */
export function count(text: string): Counts {
  const s = normalText(text);
  return { chars: chars(s), words: words(s), lines: lines(s) };
}

/** Bytes of UTF-8. */
export function bytes(s: string): number {
  let n = 0;
  for (let i = 0; i < s.length; i++) {
    const unit = s.charCodeAt(i);
    if (unit < 0x80) n += 1;
    else if (unit < 0x800) n += 2;
    else if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < s.length) {
      n += 4;
      i++;
    } else n += 3;
  }
  return n;
}
