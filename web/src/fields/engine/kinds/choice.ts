import { blank, chars, normalText } from '../count';
import type { Place } from '../place';
import { list, quote } from '../quote';
import type { Field } from '../types';
import type { Kind } from './kind';

/** The longest text that stands for an option of its own (allow_other). */
export const maxOtherChars = 1000;

/** Reports a value that is not an option. */
function optionCheck(f: Field): (v: unknown, at: Place) => void {
  const options = f.options ?? [];
  const values = options.map((o) => o.value);
  const known = new Set(values);
  return (v, at) => {
    if (typeof v !== 'string') {
      at.expect(`one of ${list(values)}`, v);
    } else if (known.has(v)) {
      return;
    } else if (f.allow_other) {
      if (chars(normalText(v)) > maxOtherChars || blank(v)) {
        at.fail(`another answer than the options has 1 to ${maxOtherChars} characters, got ${quote(v)}`);
      }
    } else {
      const labelled = options.find((o) => o.label === v);
      if (labelled) at.fail(`${quote(v)} is the label of an option: use its value ${quote(labelled.value)}`);
      else at.fail(`${quote(v)} is not an option; expected ${list(values)}`);
    }
  };
}

/** select: the value of one option, or with allow_other any other text. */
export function selectKind(f: Field): Kind {
  return { check: optionCheck(f) };
}

/** multi_select: an array of different options; one in rules.exclusive stands alone. */
export function multiSelectKind(f: Field): Kind {
  const checkOption = optionCheck(f);
  const rules = f.rules ?? {};
  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array of options', v);
        return;
      }
      at.count(v.length, rules.min_items, rules.max_items, 'choice', 'choices');
      const seen = new Set<unknown>();
      for (const [i, item] of v.entries()) {
        if (at.full) return;
        checkOption(item, at.item(i));
        if (typeof item === 'string' && seen.has(item)) at.item(i).fail(`${quote(item)} is chosen twice`);
        seen.add(item);
      }
      for (const alone of new Set(rules.exclusive)) {
        if (seen.has(alone) && v.length > 1) at.fail(`${quote(alone)} cannot be chosen together with others`);
      }
    },
  };
}

/** boolean: true or false; with rules.must_be_true only true. */
export function booleanKind(f: Field): Kind {
  return {
    check(v, at) {
      if (typeof v !== 'boolean') at.expect('true or false', v);
      else if (f.rules?.must_be_true && !v) at.fail('must be true');
    },
  };
}
