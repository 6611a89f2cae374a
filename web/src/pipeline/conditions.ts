import { proseTypes } from './catalogue';
import type { Condition, Field, Op } from './definition';

/**
 * Conditions as the editor handles them: what an operator asks for, which
 * operators suit a field, which parts of a value may be looked at, and a
 * condition in words. The truth is internal/form/condition_check.go.
 */
export type Shape = 'all' | 'any' | 'not' | 'leaf';

export function shapeOf(c: Condition): Shape {
  if (c.all) return 'all';
  if (c.any) return 'any';
  if (c.not) return 'not';
  return 'leaf';
}

/** Whether the editor can show it: exactly one of the four, all the way down. */
export function editable(c: unknown, depth = 1): c is Condition {
  if (typeof c !== 'object' || c === null || depth > 16) return false;
  const { all, any, not, ...leaf } = c as Condition;
  const isLeaf = 'field' in leaf || 'op' in leaf || 'value' in leaf;
  if ([all, any, not, isLeaf || undefined].filter((part) => part !== undefined).length !== 1) return false;
  if (not !== undefined) return editable(not, depth + 1);
  if (isLeaf) return typeof leaf.field === 'string' && typeof leaf.op === 'string';
  return [all, any].filter(Array.isArray).some((list) => list.every((item) => editable(item, depth + 1)));
}

export const opLabels: Record<Op, string> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  nin: 'is none of',
  contains: 'contains',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  empty: 'is not answered',
  not_empty: 'is answered',
  matches: 'matches the pattern',
};

/** The same operators for moments. */
export const dateOpLabels: Partial<Record<Op, string>> = {
  gt: 'is after',
  gte: 'is on or after',
  lt: 'is before',
  lte: 'is on or before',
};

const ordered = ['number', 'integer', 'rating', 'date', 'datetime', 'json'];

/** The operators that make sense for a field, or a part of one. */
export function opsFor(subject: Pick<Field, 'type'>): Op[] {
  const t = subject.type;
  const whole = t === 'likert' || t === 'chat' || t === 'table' || t === 'file_upload' || t === 'text_spans';
  const out: Op[] = whole ? [] : ['eq', 'ne', 'in', 'nin'];
  if (t === 'boolean') out.splice(2);
  if (ordered.includes(t)) out.push('gt', 'gte', 'lt', 'lte');
  if (proseTypes.includes(t) || ['url', 'json', 'multi_select', 'list', 'ranking'].includes(t)) out.push('contains');
  if (proseTypes.includes(t) || ['select', 'url', 'json'].includes(t)) out.push('matches');
  return [...out, 'empty', 'not_empty'];
}

/** What may stand after "name." for the field, each with what to call it. */
export function partsOf(f: Field): { key: string; label: string }[] {
  switch (f.type) {
    case 'pairwise':
      return [
        { key: 'choice', label: 'choice' },
        ...(f.scale ? [{ key: 'strength', label: 'strength' }] : []),
        { key: 'shown_left', label: 'shown left' },
      ];
    case 'likert':
      return (f.rows ?? []).map((r) => ({ key: r.value, label: r.label || r.value }));
    case 'file_upload':
      return f.multiple ? [] : ['name', 'size', 'content_type'].map((key) => ({ key, label: key.replace('_', ' ') }));
    default:
      return [];
  }
}

/** The field, or the part of it that a reference such as "survey.row_1" names, as a field of its own. */
export function subject(ref: string, known: readonly Field[]): Field | undefined {
  const dot = ref.indexOf('.');
  const name = dot < 0 ? ref : ref.slice(0, dot);
  const field = known.find((f) => f.name === name);
  if (!field || dot < 0) return field;
  const part = ref.slice(dot + 1);
  const as = (type: Field['type'], more: Partial<Field> = {}): Field => ({
    name: ref,
    input: field.input,
    type,
    ...more,
  });
  if (field.type === 'json') return as('json');
  if (field.type === 'likert') return as('rating', { scale: field.scale });
  if (part === 'choice') return as('select', { options: choicesOf(field).map((value) => ({ value })) });
  if (part === 'shown_left') return as('select', { options: [{ value: 'a' }, { value: 'b' }] });
  if (part === 'strength' || part === 'size') return as('integer');
  return as('short_text');
}

export const pairChoices = ['a', 'b', 'tie', 'both_bad'];

/** The answers that a pairwise field allows. */
export function choicesOf(f: Field): string[] {
  return f.choices && f.choices.length > 0 ? f.choices : pairChoices;
}

/** The closed set that the value is picked from; null when it is typed. */
export function pickedFrom(f: Field, op: Op): { value: string; label: string }[] | null {
  const of = (list: Field['options']) => (list ?? []).map((o) => ({ value: o.value, label: o.label || o.value }));
  if (f.type === 'select' && op !== 'matches' && !f.allow_other) return of(f.options);
  if (f.type === 'multi_select' && op === 'contains' && !f.allow_other) return of(f.options);
  if (f.type === 'ranking' && op === 'contains' && !f.source) return of(f.items);
  return null;
}

/** What a leaf starts with for the operator and the field. */
export function startValue(f: Field | undefined, op: Op): unknown {
  if (op === 'empty' || op === 'not_empty' || !f) return undefined;
  if (op === 'in' || op === 'nin') return [];
  if (op === 'matches') return '';
  const picked = pickedFrom(f, op);
  if (picked) return picked[0]?.value ?? '';
  switch (f.type) {
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return 0;
    case 'rating':
      return f.scale?.min ?? 1;
    case 'date':
      return '2026-01-01';
    case 'datetime':
      return '2026-01-01T00:00:00Z';
    case 'multi_select':
    case 'list':
    case 'ranking':
      return op === 'contains' ? '' : [];
    default:
      return '';
  }
}

/** A leaf about the field with the first operator that suits it. */
export function newLeaf(field: Field | undefined): Condition {
  if (!field) return { field: '', op: 'eq', value: '' };
  const part = field.type === 'pairwise' ? '.choice' : '';
  const about = part ? subject(field.name + part, [field]) : field;
  const op = opsFor(about ?? field)[0] ?? 'not_empty';
  const value = startValue(about, op);
  return { field: field.name + part, op, ...(value !== undefined && { value }) };
}

/** The leaf with another field; operator and value stay where they still make sense. */
export function withField(leaf: Condition, ref: string, known: readonly Field[]): Condition {
  const now = subject(ref, known);
  if (!now) return { ...leaf, field: ref };
  const was = leaf.field ? subject(leaf.field, known) : undefined;
  const op = leaf.op && opsFor(now).includes(leaf.op) ? leaf.op : (opsFor(now)[0] ?? 'not_empty');
  const same = was?.type === now.type && op === leaf.op && !pickedFrom(now, op);
  const value = same ? leaf.value : startValue(now, op);
  return { field: ref, op, ...(value !== undefined && { value }) };
}

/** The leaf with another operator; the value stays when the new one takes the same kind. */
export function withOp(leaf: Condition, op: Op, known: readonly Field[]): Condition {
  const f = leaf.field ? subject(leaf.field, known) : undefined;
  const fresh = startValue(f, op);
  if (fresh === undefined) return { field: leaf.field, op };
  if (Array.isArray(fresh) && !Array.isArray(leaf.value)) {
    return { field: leaf.field, op, value: leaf.value === undefined || leaf.value === '' ? [] : [leaf.value] };
  }
  if (!Array.isArray(fresh) && Array.isArray(leaf.value))
    return { field: leaf.field, op, value: leaf.value[0] ?? fresh };
  return { field: leaf.field, op, value: typeof leaf.value === typeof fresh ? leaf.value : fresh };
}

/** The condition as another shape, keeping what is in it. */
export function reshape(c: Condition, shape: Shape): Condition {
  const inner = c.all ?? c.any ?? (c.not ? [c.not] : [c]);
  if (shape === 'all') return { all: inner };
  if (shape === 'any') return { any: inner };
  const one: Condition = inner.length === 1 && inner[0] ? inner[0] : c;
  return shape === 'not' ? { not: one } : one;
}

/** The names of the fields that the condition looks at. */
export function fieldsOf(c: Condition | undefined): string[] {
  if (!c) return [];
  const below = [...(c.all ?? []), ...(c.any ?? []), ...(c.not ? [c.not] : [])].flatMap(fieldsOf);
  const own = c.field ? [c.field.split('.')[0] ?? ''] : [];
  return [...new Set([...own, ...below])];
}

/** The condition with its fields under other names. */
export function renamed(c: Condition, swap: (name: string) => string): Condition {
  const out: Condition = { ...c };
  if (c.all) out.all = c.all.map((x) => renamed(x, swap));
  if (c.any) out.any = c.any.map((x) => renamed(x, swap));
  if (c.not) out.not = renamed(c.not, swap);
  if (c.field) {
    const [name = '', ...part] = c.field.split('.');
    out.field = [swap(name), ...part].join('.');
  }
  return out;
}

/** The condition in words: "mood is unclear and (score is less than 3 or why is answered)". */
export function inWords(c: Condition, nested = false): string {
  const join = (parts: Condition[], word: string) => {
    const s = parts.map((p) => inWords(p, true)).join(word);
    return nested && parts.length > 1 ? `(${s})` : s;
  };
  if (c.all) return c.all.length > 0 ? join(c.all, ' and ') : 'always';
  if (c.any) return c.any.length > 0 ? join(c.any, ' or ') : 'never';
  if (c.not) return `not (${inWords(c.not)})`;
  const op = c.op ? (opLabels[c.op] ?? c.op) : '?';
  const value = c.value === undefined ? '' : ` ${shown(c.value)}`;
  return `${c.field || '?'} ${op}${value}`;
}

function shown(v: unknown): string {
  if (typeof v === 'string') return v === '' ? '""' : v;
  if (typeof v === 'boolean') return v ? 'yes' : 'no';
  if (Array.isArray(v)) return v.length > 0 ? v.map(shown).join(', ') : 'nothing';
  return JSON.stringify(v);
}
