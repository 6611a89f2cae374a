import type { Place } from '../place';
import { list, quote } from '../quote';
import type { Column, Field } from '../types';
import { empty, isObject } from '../value';
import type { Kind } from './kind';
import { scalar } from './list';

/** Compiles the kind of a field; lists and tables get it, since they hold values of other types. */
export type KindOf = (f: Field) => Kind;

/** The definition of a column's cells. */
export function cellField(col: Column): Field {
  return { ...col, input: 'contributor', type: scalar(col.type) ? col.type : '' };
}

/** table: an array of rows, each an object with cells; an empty cell of an optional column may be absent. */
export function tableKind(f: Field, kindOf: KindOf): Kind {
  const columns = f.columns ?? [];
  const names = columns.map((col) => col.name);
  const kinds = new Map<string, Kind>();
  for (const col of columns) if (!kinds.has(col.name)) kinds.set(col.name, kindOf(cellField(col)));

  const checkRow = (row: unknown, at: Place) => {
    if (!isObject(row)) {
      at.expect(`an object with ${list(names)}`, row);
      return;
    }
    const answered = new Set<string>();
    for (const [key, cell] of Object.entries(row)) {
      const kind = kinds.get(key);
      if (!kind) {
        at.fail(`unknown column ${quote(key)}; expected ${list(names)}`);
      } else if (!empty(cell)) {
        answered.add(key);
        kind.check(cell, at.at(key));
      }
      if (at.full) return;
    }
    for (const col of columns) {
      if (col.required && !answered.has(col.name)) {
        at.at(col.name).fail(`column ${quote(col.name)} is required`);
      }
    }
  };

  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array of rows', v);
        return;
      }
      at.count(v.length, f.rules?.min_items, f.rules?.max_items, 'row', 'rows');
      for (const [i, row] of v.entries()) {
        if (at.full) return;
        checkRow(row, at.item(i));
      }
    },
  };
}
