import { bytes, chars, lines, normalText, words } from '../count';
import { compilePattern, type Pattern, patternsLoaded } from '../pattern';
import type { Place } from '../place';
import { quote } from '../quote';
import { storeFault } from '../storable';
import type { Field, Rules } from '../types';
import type { Kind } from './kind';

/** short_text (one line), long_text, rich_text (Markdown) and code: a text. */
export function textKind(f: Field): Kind {
  const rules = f.rules ?? {};
  let pattern: Pattern | undefined;
  let compiled = false;
  return {
    check(v, at) {
      if (typeof v !== 'string') {
        at.expect('a text', v);
        return;
      }
      const s = normalText(v);
      if (f.type === 'short_text' && /[\r\n]/.test(s)) at.fail(`must be on one line, got ${quote(s)}`);
      sizes(s, rules, at);
      if (rules.pattern && !compiled && patternsLoaded()) {
        pattern = compilePattern(rules.pattern);
        compiled = true;
      }
      if (pattern) match(s, pattern, rules, at);
      if (rules.parse && f.languages?.length === 1 && f.languages[0] === 'json') parses(s, at);
    },
  };
}

function sizes(s: string, r: Rules, at: Place) {
  const bounded = (least?: number, most?: number) => least !== undefined || most !== undefined;
  if (bounded(r.min_chars, r.max_chars)) at.count(chars(s), r.min_chars, r.max_chars, 'character', 'characters');
  if (bounded(r.min_words, r.max_words)) at.count(words(s), r.min_words, r.max_words, 'word', 'words');
  if (bounded(r.min_lines, r.max_lines)) at.count(lines(s), r.min_lines, r.max_lines, 'line', 'lines');
}

function match(s: string, pattern: Pattern, r: Rules, at: Place) {
  switch (pattern.match(s)) {
    case 'too long':
      at.fail(`is too long to be matched against the pattern: ${bytes(s)} bytes, at most ${pattern.maxBytes} allowed`);
      break;
    case 'no':
      if (r.pattern_message) at.fail(`${r.pattern_message}, got ${quote(s)}`);
      else at.fail(`${quote(s)} does not match the pattern ${pattern.source}`);
  }
}

function parses(s: string, at: Place) {
  try {
    const fault = storeFault(JSON.parse(s));
    if (fault) at.fail(`as JSON, it ${fault}`);
  } catch {
    at.fail('as JSON, it is not valid JSON');
  }
}
