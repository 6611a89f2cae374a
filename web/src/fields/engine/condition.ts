import { normalText } from './count';
import { Env } from './env';
import { compareMoments, parseDate, parseDatetime } from './moment';
import { compilePattern, type Pattern, patternsLoaded } from './pattern';
import type { Lookup } from './place';
import { storeFault } from './storable';
import type { Condition, Values } from './types';
import { empty, equal, itemsOf, member, shapeOf } from './value';

const maxDepth = 16;

/** Decides over the values that lookup finds. */
export type Test = (lookup: Lookup) => boolean;

const never: Test = () => false;

/** Decides a condition over values. Total: whatever they hold, it answers. */
export function holds(condition: Condition, values: Values): boolean {
  return compileCondition(condition)(new Env([values]).field);
}

/** Prepares a condition; one with several of all, any, not and field needs each of them. */
export function compileCondition(c: Condition, depth = 1): Test {
  if (depth > maxDepth) return never;
  const inner = (part: Condition) => compileCondition(part, depth + 1);
  const tests: Test[] = (c.all ?? []).map(inner);
  const any = (c.any ?? []).map(inner);
  if (any.length > 0) tests.push((lookup) => any.some((test) => test(lookup)));
  if (c.not) {
    const not = inner(c.not);
    tests.push((lookup) => !not(lookup));
  }
  if (c.field) tests.push(leaf(c, c.field));
  else if (c.op || c.value !== undefined) return never;
  return (lookup) => tests.every((test) => test(lookup));
}

/** One comparison. Field may be "name.key". */
function leaf(c: Condition, ref: string): Test {
  const dot = ref.indexOf('.');
  const [name, key] = dot < 0 ? [ref, ''] : [ref.slice(0, dot), ref.slice(dot + 1)];
  if (c.value !== undefined && storeFault(c.value)) return never;
  const compare = comparison(c.op ?? '', c.value);
  return (lookup) => {
    const got = lookup(name);
    return compare(key ? member(got, key) : got);
  };
}

function comparison(op: string, want: unknown): (got: unknown) => boolean {
  const oneOf = (got: unknown) => itemsOf(want).some((item) => equal(item, got));
  const ordered = (fits: (order: number) => boolean) => (got: unknown) => {
    const order = compareValues(got, want);
    return order !== undefined && fits(order);
  };
  switch (op) {
    case 'eq':
      return (got) => equal(got, want);
    case 'ne':
      return (got) => !equal(got, want);
    case 'in':
      return oneOf;
    case 'nin':
      return (got) => Array.isArray(want) && !oneOf(got);
    case 'contains':
      return (got) => contains(got, want);
    case 'gt':
      return ordered((order) => order > 0);
    case 'gte':
      return ordered((order) => order >= 0);
    case 'lt':
      return ordered((order) => order < 0);
    case 'lte':
      return ordered((order) => order <= 0);
    case 'empty':
      return empty;
    case 'not_empty':
      return (got) => !empty(got);
    case 'matches':
      return matches(typeof want === 'string' ? want : '');
    default:
      return () => false;
  }
}

/** Compiles when it is first asked after the library came. */
function matches(source: string): (got: unknown) => boolean {
  let pattern: Pattern | undefined;
  let tried = false;
  return (got) => {
    if (!tried && patternsLoaded()) {
      pattern = compilePattern(source);
      tried = true;
    }
    return typeof got === 'string' && !empty(got) && (pattern?.holds(normalText(got)) ?? false);
  };
}

function contains(got: unknown, want: unknown): boolean {
  if (typeof got !== 'string') return itemsOf(got).some((item) => equal(item, want));
  return typeof want === 'string' && !empty(got) && !empty(want) && normalText(got).includes(normalText(want));
}

/** Orders two numbers, two dates or two datetimes. */
function compareValues(a: unknown, b: unknown): number | undefined {
  if (shapeOf(a) === 'number' && shapeOf(b) === 'number') return Math.sign((a as number) - (b as number));
  if (typeof a !== 'string' || typeof b !== 'string') return undefined;
  for (const parse of [parseDate, parseDatetime]) {
    const x = parse(a);
    const y = parse(b);
    if (x) return y && compareMoments(x, y);
  }
  return undefined;
}
