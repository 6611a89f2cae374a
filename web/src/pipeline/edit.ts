import { renamed } from './conditions';
import type { Definition, Edge, Field, Kind, PipelineNode } from './definition';
import { fieldNames, nodeKeys, unique } from './names';

/**
 * The changes that the builder makes to a definition, each a pure function.
 * A new name of a node or a field is carried to all that refers to it.
 */
export function addNode(d: Definition, kind: Kind, key?: string): { definition: Definition; key: string } {
  const k = unique(key ?? (kind === 'subtask' ? 'step' : kind), nodeKeys(d));
  return { definition: { ...d, nodes: [...d.nodes, newNode(d, kind, k)] }, key: k };
}

function newNode(d: Definition, kind: Kind, key: string): PipelineNode {
  switch (kind) {
    case 'subtask':
      return { key, kind, title: 'New step', fields: [newField(d, 'short_text', 'answer')] };
    case 'review':
      return { key, kind, title: 'Review', reviews: [] };
    default:
      return { key, kind };
  }
}

/** A field that nothing in the pipeline is named like. */
export function newField(d: Definition, type: Field['type'], name: string): Field {
  return { name: unique(name, fieldNames(d)), type, input: 'contributor' };
}

export function setNode(d: Definition, key: string, change: Partial<PipelineNode>): Definition {
  return { ...d, nodes: d.nodes.map((n) => (n.key === key ? dropEmpty({ ...n, ...change }) : n)) };
}

/** Undefined and empty mean absent; what is absent stays out of the document. */
function dropEmpty<T extends object>(thing: T): T {
  const kept = Object.entries(thing).filter(([k, v]) => v !== undefined && (v !== '' || k === 'name' || k === 'key'));
  return Object.fromEntries(kept) as T;
}

/** Removes nodes with their edges; what led to one leads on to what it led to when there is a single way through. */
export function removeNodes(d: Definition, keys: readonly string[]): Definition {
  return keys.reduce(removeNode, d);
}

function removeNode(d: Definition, key: string): Definition {
  const [into, out] = [d.edges.filter((e) => e.to === key), d.edges.filter((e) => e.from === key)];
  const edges = d.edges.filter((e) => e.from !== key && e.to !== key);
  const [a, b] = [into[0], out[0]];
  if (into.length === 1 && out.length === 1 && a && b && !a.when && !b.when && a.from !== b.to) {
    if (!edges.some((e) => e.from === a.from && e.to === b.to)) edges.push({ from: a.from, to: b.to });
  }
  const nodes = d.nodes
    .filter((n) => n.key !== key)
    .map((n) => (n.reviews ? { ...n, reviews: n.reviews.filter((t) => t.node !== key) } : n));
  return { ...d, nodes, edges };
}

export function renameNode(d: Definition, from: string, to: string): Definition {
  if (from === to) return d;
  return {
    ...d,
    nodes: d.nodes.map((n) => ({
      ...n,
      key: n.key === from ? to : n.key,
      ...(n.reviews && { reviews: n.reviews.map((t) => (t.node === from ? { ...t, node: to } : t)) }),
    })),
    edges: d.edges.map((e) => ({ ...e, from: e.from === from ? to : e.from, to: e.to === from ? to : e.to })),
  };
}

export function connect(d: Definition, from: string, to: string): Definition {
  return { ...d, edges: [...d.edges, { from, to }] };
}

export function setEdge(d: Definition, index: number, change: Partial<Edge>): Definition {
  return { ...d, edges: d.edges.map((e, i) => (i === index ? dropEmpty({ ...e, ...change }) : e)) };
}

export function removeEdge(d: Definition, index: number): Definition {
  return { ...d, edges: d.edges.filter((_, i) => i !== index) };
}

/** Puts the node into an edge: a → b becomes a → node → b, and the condition stays before it. */
export function insertInto(d: Definition, index: number, key: string): Definition {
  const e = d.edges[index];
  if (!e) return d;
  const first: Edge = { ...e, to: key };
  return { ...d, edges: [...d.edges.slice(0, index), first, { from: key, to: e.to }, ...d.edges.slice(index + 1)] };
}

/** Adds a node behind another one, inside its edge when it has a single one without a condition. */
export function addAfter(d: Definition, after: string | null, kind: Kind): { definition: Definition; key: string } {
  const added = addNode(d, kind);
  const source = d.nodes.find((n) => n.key === after);
  if (!source || source.kind === 'end') return added;
  const out = d.edges.flatMap((e, i) => (e.from === source.key ? [i] : []));
  const only = out.length === 1 ? out[0] : undefined;
  let next = added.definition;
  next = only !== undefined ? insertInto(next, only, added.key) : connect(next, source.key, added.key);
  if (kind === 'review' && source.kind === 'subtask') {
    next = setNode(next, added.key, {
      reviews: [{ node: source.key }],
      title: `Review of ${source.title || source.key}`,
    });
  }
  return { definition: next, key: added.key };
}

export function setField(d: Definition, key: string, index: number, change: Partial<Field>): Definition {
  return mapFields(d, key, (fields) => fields.map((f, i) => (i === index ? dropEmpty({ ...f, ...change }) : f)));
}

/** The field as it is given, for changes that also take keys away. */
export function replaceField(d: Definition, key: string, index: number, field: Field): Definition {
  return mapFields(d, key, (fields) => fields.map((f, i) => (i === index ? dropEmpty(field) : f)));
}

export function insertField(d: Definition, key: string, index: number, field: Field): Definition {
  return mapFields(d, key, (fields) => [...fields.slice(0, index), field, ...fields.slice(index)]);
}

export function removeField(d: Definition, key: string, index: number): Definition {
  const name = d.nodes.find((n) => n.key === key)?.fields?.[index]?.name;
  const next = mapFields(d, key, (fields) => fields.filter((_, i) => i !== index));
  if (!name || fieldNames(next).includes(name)) return next;
  // A review that named the field goes on without it, unless that would widen it to all fields.
  const nodes = next.nodes.map((n) => ({
    ...n,
    ...(n.reviews && {
      reviews: n.reviews.map((t) => {
        const left = t.fields?.filter((f) => f !== name);
        return t.node === key && left && left.length > 0 ? { ...t, fields: left } : t;
      }),
    }),
  }));
  return { ...next, nodes };
}

export function moveField(d: Definition, key: string, from: number, to: number): Definition {
  return mapFields(d, key, (fields) => {
    const out = [...fields];
    const [moved] = out.splice(from, 1);
    if (!moved) return fields;
    out.splice(to, 0, moved);
    return out;
  });
}

function mapFields(d: Definition, key: string, change: (fields: Field[]) => Field[]): Definition {
  return { ...d, nodes: d.nodes.map((n) => (n.key === key ? { ...n, fields: change(n.fields ?? []) } : n)) };
}

/** Gives one field another name, and carries it to conditions, sources, prompts and reviews. */
export function renameField(d: Definition, key: string, index: number, to: string): Definition {
  const from = d.nodes.find((n) => n.key === key)?.fields?.[index]?.name ?? '';
  const named = setField(d, key, index, { name: to });
  // When another field has the old name too, nobody can tell which one is meant.
  if (!from || from === to || fieldNames(named).includes(from)) return named;
  return carryName(named, key, from, to);
}

function carryName(d: Definition, key: string, from: string, to: string): Definition {
  const swap = (name: string) => (name === from ? to : name);
  return {
    ...d,
    nodes: d.nodes.map((n) => ({
      ...n,
      ...(n.reviews && {
        reviews: n.reviews.map((t) => (t.node === key && t.fields ? { ...t, fields: t.fields.map(swap) } : t)),
      }),
      ...(n.fields && { fields: n.fields.map((f) => refersTo(f, from, to, swap)) }),
    })),
    edges: d.edges.map((e) => (e.when ? { ...e, when: renamed(e.when, swap) } : e)),
  };
}

function refersTo(f: Field, from: string, to: string, swap: (name: string) => string): Field {
  const out = { ...f };
  if (f.source) out.source = swap(f.source);
  if (f.sources) out.sources = f.sources.map(swap);
  if (f.visible_when) out.visible_when = renamed(f.visible_when, swap);
  if (f.rules?.equals_field) out.rules = { ...f.rules, equals_field: swap(f.rules.equals_field) };
  if (f.llm) {
    const slots = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;
    out.llm = { ...f.llm, prompt: f.llm.prompt.replace(slots, (all, name) => (name === from ? `{{${to}}}` : all)) };
    if (f.llm.context) out.llm.context = f.llm.context.map(swap);
  }
  return out;
}
