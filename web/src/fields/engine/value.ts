import { blank, normalText } from './count';
import { quote, quoteLimit } from './quote';

export type Shape = 'null' | 'boolean' | 'number' | 'text' | 'array' | 'object';
export type JSONObject = Record<string, unknown>;

/** The JSON kind of a value; undefined is null, which is what an absent field holds. */
export function shapeOf(v: unknown): Shape {
  if (v === null || v === undefined) return 'null';
  if (typeof v === 'string') return 'text';
  if (typeof v === 'number') return 'number';
  if (typeof v === 'boolean') return 'boolean';
  return Array.isArray(v) ? 'array' : 'object';
}

export function isObject(v: unknown): v is JSONObject {
  return shapeOf(v) === 'object';
}

/** A member of an object; undefined when v is none or has no such key of its own. */
export function member(v: unknown, key: string): unknown {
  return isObject(v) && Object.hasOwn(v, key) ? v[key] : undefined;
}

/** The elements of an array, none of anything else. */
export function itemsOf(v: unknown): readonly unknown[] {
  return Array.isArray(v) ? v : [];
}

/** Not answered: null, "", white space, [] and {}. */
export function empty(v: unknown): boolean {
  switch (shapeOf(v)) {
    case 'null':
      return true;
    case 'text':
      return blank(v as string);
    case 'array':
      return (v as unknown[]).length === 0;
    case 'object':
      return Object.keys(v as JSONObject).length === 0;
    default:
      return false;
  }
}

/** Numbers by size, texts after CRLF became LF, arrays in order, objects by key. All empty values are equal. */
export function equal(a: unknown, b: unknown): boolean {
  if (empty(a) || empty(b)) return empty(a) && empty(b);
  const shape = shapeOf(a);
  if (shape !== shapeOf(b)) return false;
  if (shape === 'text') return normalText(a as string) === normalText(b as string);
  if (shape === 'array') {
    const [x, y] = [a as unknown[], b as unknown[]];
    return x.length === y.length && x.every((item, i) => equal(item, y[i]));
  }
  if (shape !== 'object') return a === b;
  const keys = new Set([...Object.keys(a as JSONObject), ...Object.keys(b as JSONObject)]);
  return [...keys].every((key) => equal(member(a, key), member(b, key)));
}

/** The value as messages name it, shortened. */
export function show(v: unknown): string {
  switch (shapeOf(v)) {
    case 'null':
      return 'null';
    case 'text':
      return quote(v as string);
    case 'number':
      return numberText(v as number).slice(0, quoteLimit);
    case 'array':
      return 'an array';
    case 'object':
      return 'an object';
    default:
      return String(v);
  }
}

/** 1e300, where JavaScript writes 1e+300. */
export function numberText(n: number): string {
  return String(n).replace('e+', 'e');
}

/** The value with CRLF in its texts, keys aside, turned into LF. */
export function normalValue(v: unknown): unknown {
  switch (shapeOf(v)) {
    case 'text':
      return normalText(v as string);
    case 'array':
      return (v as unknown[]).map(normalValue);
    case 'object':
      return Object.fromEntries(Object.entries(v as JSONObject).map(([key, part]) => [key, normalValue(part)]));
    default:
      return v;
  }
}
