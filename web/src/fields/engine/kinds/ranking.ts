import { normalText } from '../count';
import type { Lookup, Place } from '../place';
import { list, quote } from '../quote';
import type { Field } from '../types';
import { itemsOf } from '../value';
import type { Kind } from './kind';

/** What a ranking orders: its items, or the different texts in its source; CRLF is LF, as in what is kept. */
export function rankItems(f: Field, find: Lookup): string[] {
  if (!f.source) return (f.items ?? []).map((item) => normalText(item.value));
  const texts = itemsOf(find(f.source)).flatMap((x) => (Array.isArray(x) ? x : [x]));
  return [...new Set(texts.filter((x) => typeof x === 'string').map(normalText))];
}

/** ranking: every item once, best first; with allow_ties an element may be a group of equals. */
export function rankingKind(f: Field): Kind {
  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array of item ids, best first', v);
        return;
      }
      const items = rankItems(f, (name) => at.find(name));
      const known = new Set(items);
      const seen = new Set<string>();
      const visit = (x: unknown, place: Place) => {
        if (typeof x !== 'string') {
          place.expect('an item id', x);
          return;
        }
        const id = normalText(x);
        if (seen.has(id)) place.fail(`${quote(id)} is ranked twice`);
        else if (!known.has(id)) place.fail(`${quote(id)} is not an item; expected ${list(items)}`);
        else seen.add(id);
      };
      for (const [i, x] of v.entries()) {
        const place = at.item(i);
        if (at.full) return;
        if (!Array.isArray(x)) visit(x, place);
        else if (!f.allow_ties) place.fail('ties are not allowed: expected an item id, got an array');
        else if (x.length === 0) place.fail('a group of equals must not be empty');
        else for (const [j, tied] of x.entries()) visit(tied, place.item(j));
      }
      for (const item of items) {
        if (!seen.has(item)) at.fail(`item ${quote(item)} is not ranked`);
      }
    },
    pointless: (find) => rankItems(f, find).length === 0,
  };
}
