import { renamed } from './conditions';
import type { Definition, Edge, Field, Layout, PipelineNode } from './definition';
import { fieldNames, nodeKeys, unique } from './names';

/** What was copied from a canvas: nodes, what connects them, and where they stood. */
export interface Clip {
  taskloom: 'nodes';
  nodes: PipelineNode[];
  edges: Edge[];
  layout: Layout;
}

/** The named nodes, without start and end, of which a pipeline has one each. */
export function copy(d: Definition, layout: Layout, keys: readonly string[]): Clip {
  const nodes = d.nodes.filter((n) => keys.includes(n.key) && n.kind !== 'start' && n.kind !== 'end');
  const has = (key: string) => nodes.some((n) => n.key === key);
  return {
    taskloom: 'nodes',
    nodes,
    edges: d.edges.filter((e) => has(e.from) && has(e.to)),
    layout: Object.fromEntries(Object.entries(layout).filter(([key]) => has(key))),
  };
}

/** Reads a text from the system's clipboard; null when it is not from a canvas. */
export function readClip(text: string): Clip | null {
  try {
    const clip = JSON.parse(text) as Clip;
    return clip?.taskloom === 'nodes' && Array.isArray(clip.nodes) && Array.isArray(clip.edges) ? clip : null;
  } catch {
    return null;
  }
}

export interface Pasted {
  definition: Definition;
  layout: Layout;
  keys: string[];
}

/**
 * The definition with the copies added. Keys and field names become unique;
 * what the copies say about each other follows, what they say about others
 * stays.
 */
export function paste(d: Definition, layout: Layout, clip: Clip, shift = 48): Pasted {
  const keys = new Map<string, string>();
  const names = new Map<string, string>();
  const [takenKeys, takenNames] = [new Set(nodeKeys(d)), new Set(fieldNames(d))];
  for (const n of clip.nodes) {
    const key = unique(n.key, takenKeys);
    takenKeys.add(key);
    keys.set(n.key, key);
    for (const f of n.fields ?? []) {
      const name = unique(f.name, takenNames);
      takenNames.add(name);
      names.set(f.name, name);
    }
  }
  const nodes = clip.nodes.map((n) => ({
    ...n,
    key: keys.get(n.key) ?? n.key,
    ...(n.fields && { fields: n.fields.map((f) => carried(f, names)) }),
    ...(n.reviews && {
      reviews: n.reviews.map((t) =>
        keys.has(t.node)
          ? {
              ...t,
              node: keys.get(t.node) ?? t.node,
              ...(t.fields && { fields: t.fields.map((f) => names.get(f) ?? f) }),
            }
          : t,
      ),
    }),
  }));
  const edges = clip.edges.map((e) => ({
    ...e,
    from: keys.get(e.from) ?? e.from,
    to: keys.get(e.to) ?? e.to,
    ...(e.when && { when: renamed(e.when, (name) => names.get(name) ?? name) }),
  }));
  const placed: Layout = {};
  for (const [old, key] of keys) {
    const at = clip.layout[old];
    if (at) placed[key] = [at[0] + shift, at[1] + shift];
  }
  return {
    definition: { ...d, nodes: [...d.nodes, ...nodes], edges: [...d.edges, ...edges] },
    layout: { ...layout, ...placed },
    keys: nodes.map((n) => n.key),
  };
}

/** A copy of a field, with the new names of what was copied along with it. */
export function carried(f: Field, names: ReadonlyMap<string, string>): Field {
  const swap = (name: string) => names.get(name) ?? name;
  const out: Field = { ...f, name: swap(f.name) };
  if (f.source) out.source = swap(f.source);
  if (f.sources) out.sources = f.sources.map(swap);
  if (f.rules?.equals_field) out.rules = { ...f.rules, equals_field: swap(f.rules.equals_field) };
  if (f.visible_when) out.visible_when = renamed(f.visible_when, swap);
  if (f.llm) {
    const prompt = f.llm.prompt.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (all, name) =>
      names.has(name) ? `{{${swap(name)}}}` : all,
    );
    out.llm = { ...f.llm, prompt, ...(f.llm.context && { context: f.llm.context.map(swap) }) };
  }
  return out;
}
