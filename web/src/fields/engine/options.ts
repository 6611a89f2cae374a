import type { Column, Field, Option } from './types';

/** Options as a definition may write them: a bare string stands for one that has only a value. */
function options(list: readonly (Option | string)[] | undefined): Option[] | undefined {
  return list?.map((o) => (typeof o === 'string' ? { value: o } : o));
}

const bare = (list: readonly unknown[] | undefined) => list?.some((o) => typeof o === 'string') ?? false;

/** A field with every bare string among its options spelled out; the same object when there is none. */
export function normalField(field: Field): Field {
  const columns = field.columns?.some((c) => bare(c.options));
  if (!columns && ![field.options, field.rows, field.items, field.labels].some(bare)) return field;
  const column = (c: Column): Column => ({ ...c, options: options(c.options) });
  return {
    ...field,
    options: options(field.options),
    rows: options(field.rows),
    items: options(field.items),
    labels: options(field.labels),
    columns: field.columns?.map(column),
  };
}

/** What people read of an option. */
export function optionLabel(o: Option): string {
  return o.label || o.value;
}

/** What people call a field. */
export function fieldLabel(f: { title?: string; name: string }): string {
  return f.title || f.name;
}
