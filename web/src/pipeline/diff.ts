import { inWords } from './conditions';
import { type Condition, type Definition, labelOf } from './definition';
import { normalize } from './normalize';

/** One difference between two definitions, in the reader's words. */
export interface Change {
  kind: 'added' | 'removed' | 'changed' | 'moved';
  /** What it belongs to: "Pipeline", "Solve the problem", "Solve the problem → Check". */
  group: string;
  /** What of it: "field answer", "field answer · rules · max chars", "" for the whole group. */
  what: string;
  before?: string;
  after?: string;
}

/**
 * What turns the first definition into the second. Nodes are matched by key,
 * fields by name, edges by their ends, options and the like by value; long
 * texts come whole, so that the page can compare them by words.
 */
export function diff(before: unknown, after: unknown): Change[] {
  const [a, b] = [normalize(before), normalize(after)];
  const out: Change[] = [];
  const title = (key: string) =>
    labelOf(b.nodes.find((n) => n.key === key) ?? a.nodes.find((n) => n.key === key) ?? { key });
  walk(out, 'Pipeline', '', pick(a, ['name', 'description', 'runs']), pick(b, ['name', 'description', 'runs']));
  pairs(
    a.nodes,
    b.nodes,
    (n) => n.key,
    (key, was, is) => {
      if (!was || !is)
        out.push({ kind: is ? 'added' : 'removed', group: title(key), what: `${(is ?? was)?.kind} step` });
      else walk(out, title(key), '', rest(was), rest(is));
      if (is) fields(out, title(key), was?.fields ?? [], is.fields ?? []);
    },
  );
  pairs(
    a.edges,
    b.edges,
    (e) => `${e.from}\n${e.to}`,
    (_, was, is) => {
      const e = is ?? was;
      if (!e) return;
      const group = `${title(e.from)} → ${title(e.to)}`;
      const when = (c: Condition | undefined) => (c ? inWords(c) : 'always');
      if (!was || !is) {
        out.push({
          kind: is ? 'added' : 'removed',
          group,
          what: 'connection',
          ...(is ? { after: when(is.when) } : { before: when(was?.when) }),
        });
      } else if (!equal(was.when, is.when)) {
        out.push({ kind: 'changed', group, what: 'condition', before: when(was.when), after: when(is.when) });
      }
    },
  );
  return out;
}

type Fields = Definition['nodes'][number]['fields'];

function fields(out: Change[], group: string, a: NonNullable<Fields>, b: NonNullable<Fields>) {
  pairs(
    a,
    b,
    (f) => f.name,
    (name, was, is) => {
      if (was && is) walk(out, group, `field ${name}`, was, is);
      else
        out.push({
          kind: is ? 'added' : 'removed',
          group,
          what: `field ${name}`,
          ...(is ? { after: (is.type as string).replaceAll('_', ' ') } : {}),
        });
    },
  );
  if (
    movedAbout(
      a.map((f) => f.name),
      b.map((f) => f.name),
    )
  ) {
    out.push({
      kind: 'moved',
      group,
      what: 'order of the fields',
      before: a.map((f) => f.name).join(', '),
      after: b.map((f) => f.name).join(', '),
    });
  }
}

/** Objects key by key, lists of named things by name, all else as a whole. */
function walk(out: Change[], group: string, what: string, a: object, b: object) {
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of new Set([...Object.keys(x), ...Object.keys(y)])) {
    const [was, is] = [x[key], y[key]];
    if (equal(was, is)) continue;
    const name = [what, words(key)].filter(Boolean).join(' · ');
    if (key === 'visible_when') {
      out.push(change(group, name, was && inWords(was as Condition), is && inWords(is as Condition)));
    } else if (isObject(was) && isObject(is) && key !== 'value') {
      walk(out, group, name, was, is);
    } else if (named(was) || named(is)) {
      lists(out, group, name, (was as Named[]) ?? [], (is as Named[]) ?? []);
    } else {
      out.push(change(group, name, was, is));
    }
  }
}

type Named = Record<string, unknown>;
const idOf = (item: Named): string => String(item.value ?? item.name ?? item.node ?? '');

function lists(out: Change[], group: string, what: string, a: Named[], b: Named[]) {
  pairs(a, b, idOf, (id, was, is) => {
    if (was && is) walk(out, group, `${what} · ${id}`, was, is);
    else out.push({ kind: is ? 'added' : 'removed', group, what: `${what} · ${id}` });
  });
  if (movedAbout(a.map(idOf), b.map(idOf))) {
    out.push({
      kind: 'moved',
      group,
      what: `order of ${what}`,
      before: a.map(idOf).join(', '),
      after: b.map(idOf).join(', '),
    });
  }
}

function named(v: unknown): boolean {
  return Array.isArray(v) && v.length > 0 && v.every((item) => isObject(item) && idOf(item) !== '');
}

function change(group: string, what: string, was: unknown, is: unknown): Change {
  const given = (v: unknown) => v !== undefined && v !== '';
  if (!given(was)) return { kind: 'added', group, what, after: text(is) };
  if (!given(is)) return { kind: 'removed', group, what, before: text(was) };
  return { kind: 'changed', group, what, before: text(was), after: text(is) };
}

function text(v: unknown): string {
  if (typeof v === 'string') return v;
  if (v === true) return 'yes';
  if (v === false) return 'no';
  if (Array.isArray(v) && v.every((x) => typeof x === 'string')) return v.join(', ');
  return JSON.stringify(v);
}

/** Calls with the pair of each key, those of b in their order, then what only a has. */
function pairs<T>(
  a: readonly T[],
  b: readonly T[],
  key: (t: T) => string,
  each: (key: string, was?: T, is?: T) => void,
) {
  const was = new Map(a.map((t) => [key(t), t]));
  const is = new Map(b.map((t) => [key(t), t]));
  for (const [k, t] of is) each(k, was.get(k), t);
  for (const [k, t] of was) if (!is.has(k)) each(k, t, undefined);
}

/** Whether what both have stands in another order. */
function movedAbout(a: string[], b: string[]): boolean {
  const [x, y] = [a.filter((k) => b.includes(k)), b.filter((k) => a.includes(k))];
  return x.some((k, i) => y[i] !== k);
}

function words(key: string): string {
  return key.replaceAll('_', ' ');
}

function pick<T extends object>(from: T, keys: (keyof T)[]): Partial<T> {
  return Object.fromEntries(keys.flatMap((k) => (from[k] === undefined ? [] : [[k, from[k]]]))) as Partial<T>;
}

function rest(n: Definition['nodes'][number]): object {
  const { key: _key, fields: _fields, ...others } = n;
  return others;
}

function isObject(v: unknown): v is Named {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

/** Whether two JSON values are the same, keys in any order and absent keys as undefined. */
export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((x, i) => equal(x, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((k) => equal(a[k], b[k]));
}
