import type { Column, Condition, Definition, Edge, Field, Option, PipelineNode, Rules, Tool } from './definition';
import { unique } from './names';

/**
 * The document with every short form spelled out and nothing left out that
 * the builder reads: bare strings become options, absent lists become empty,
 * and keys that occur twice are made different, since the canvas finds nodes
 * by their keys. What it cannot read it leaves as it is.
 */
export function normalize(doc: unknown): Definition {
  const d = (isObject(doc) ? doc : {}) as Partial<Definition>;
  const seen = new Set<string>();
  const nodes = list<PipelineNode>(d.nodes).map((n) => {
    const key = unique(n.key || n.kind || 'step', seen);
    seen.add(key);
    return clean({ ...n, key, fields: n.fields && list<Field>(n.fields).map(field) });
  });
  const edges = list<Edge>(d.edges).map((e) => clean({ ...e, when: condition(e.when) }));
  return { ...clean({ ...d }), name: d.name ?? '', nodes, edges };
}

function field(f: Field): Field {
  const llm = f.llm && clean({ ...f.llm, tools: f.llm.tools && list(f.llm.tools).map((t) => short<Tool>(t, 'name')) });
  // The two places for accepted files mean the same; the builder has one.
  const { accept, ...ruled } = f.rules ?? {};
  const cleaned = clean({
    ...f,
    accept: f.accept ?? accept,
    width: f.width || undefined,
    options: f.options && options(f.options),
    rows: f.rows && options(f.rows),
    items: f.items && options(f.items),
    labels: f.labels && options(f.labels),
    columns: f.columns && list<Column>(f.columns).map((c) => clean({ ...c, options: c.options && options(c.options) })),
    rules: rules(ruled),
    visible_when: condition(f.visible_when),
    llm,
  });
  // A name may be missing while it is being typed; false is a value like any other.
  return { ...cleaned, name: f.name ?? '', ...(f.value === false && { value: false }) };
}

function rules(r: Rules | undefined): Rules | undefined {
  const kept = r && clean({ ...r });
  return kept && Object.keys(kept).length > 0 ? kept : undefined;
}

function condition(c: Condition | undefined): Condition | undefined {
  return isObject(c) ? c : undefined;
}

function options(o: unknown): Option[] {
  return list(o).map((item) => short<Option>(item, 'value'));
}

function short<T extends object>(item: unknown, key: keyof T): T {
  return (typeof item === 'string' ? { [key]: item } : item) as T;
}

function list<T = unknown>(v: unknown): T[] {
  return Array.isArray(v) ? v : [];
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

/** Without the keys that hold nothing: they mean the same absent. */
export function clean<T extends object>(thing: T): T {
  return Object.fromEntries(
    Object.entries(thing).filter(([, v]) => v !== undefined && v !== '' && v !== null && v !== false),
  ) as T;
}
