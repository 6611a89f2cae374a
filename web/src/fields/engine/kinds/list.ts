import { normalText } from '../count';
import type { Field } from '../types';
import { empty, show } from '../value';
import type { Kind } from './kind';
import type { KindOf } from './table';

const scalarTypes = [
  'short_text',
  'long_text',
  'select',
  'boolean',
  'number',
  'integer',
  'rating',
  'date',
  'datetime',
  'url',
];

/** Whether a value of the type fits one cell. */
export function scalar(type: string): boolean {
  return scalarTypes.includes(type);
}

/** The definition of one item: rules other than those of the list itself are the item's. */
export function itemField(f: Field): Field {
  const { min_items: _, max_items: __, unique: ___, equals_field: ____, ...rules } = f.rules ?? {};
  const { name, options, allow_other, scale, schemes, hosts, unit, placeholder } = f;
  const type = f.item_type || 'short_text';
  const item = { name, input: f.input, options, allow_other, scale, schemes, hosts, unit, placeholder, rules };
  return { ...item, type: scalar(type) ? type : '' };
}

/** list: an array of scalars of one type; an item must not be empty. */
export function listKind(f: Field, kindOf: KindOf): Kind {
  const kind = kindOf(itemField(f));
  const rules = f.rules ?? {};
  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array', v);
        return;
      }
      at.count(v.length, rules.min_items, rules.max_items, 'item', 'items');
      const seen = new Map<string, number>();
      for (const [i, item] of v.entries()) {
        if (at.full) return;
        if (empty(item)) {
          at.item(i).fail('an item must not be empty');
          continue;
        }
        kind.check(item, at.item(i));
        if (!rules.unique) continue;
        const id = typeof item === 'string' ? `"${normalText(item)}` : show(item);
        const first = seen.get(id);
        if (first === undefined) seen.set(id, i);
        else at.item(i).fail(`${show(item)} stands in the list twice, first as item ${first + 1}`);
      }
    },
  };
}
