import type { Definition, Layout } from './definition';

/** What the builder edits: the definition and where its nodes stand. */
export interface Doc {
  definition: Definition;
  layout: Layout;
}

/** What is looked at: nodes by key, or one edge, and of a single subtask perhaps one field. */
export interface Selection {
  nodes: string[];
  /** Index of the edge. */
  edge: number | null;
  /** Index of the field of the only selected node. */
  field: number | null;
}

export const nothing: Selection = { nodes: [], edge: null, field: null };

export interface History {
  doc: Doc;
  selection: Selection;
  past: Doc[];
  future: Doc[];
  /** What the last edit was about: edits of the same in a row are undone as one. */
  tag: string | null;
}

export type Action =
  | { type: 'load'; doc: Doc }
  /** Changes the document. With a tag, it joins an edit of the same tag right before it. */
  | { type: 'edit'; change: (doc: Doc) => Doc; tag?: string; select?: Partial<Selection> }
  | { type: 'select'; selection: Partial<Selection> }
  /** What the canvas tells when people click or draw a box: some became selected, some no longer are. */
  | { type: 'mark'; nodes?: { key: string; on: boolean }[]; edges?: { index: number; on: boolean }[] }
  /** Positions that nobody chose: no step to undo. */
  | { type: 'place'; layout: Layout }
  /** The next edit is a step of its own, whatever its tag. */
  | { type: 'pause' }
  | { type: 'undo' }
  | { type: 'redo' };

/** Steps that can be undone. */
export const depth = 200;

export function begin(doc: Doc): History {
  return { doc, selection: nothing, past: [], future: [], tag: null };
}

export function reduce(h: History, action: Action): History {
  switch (action.type) {
    case 'load':
      return { ...begin(action.doc), selection: within(h.selection, action.doc) };
    case 'edit': {
      const doc = action.change(h.doc);
      if (doc === h.doc) return action.select ? reduce(h, { type: 'select', selection: action.select }) : h;
      const joins = action.tag !== undefined && action.tag === h.tag;
      return {
        doc,
        selection: within({ ...h.selection, ...action.select }, doc),
        past: joins ? h.past : [...h.past, h.doc].slice(-depth),
        future: [],
        tag: action.tag ?? null,
      };
    }
    case 'select':
      return { ...h, selection: within({ ...nothing, ...action.selection }, h.doc), tag: null };
    case 'mark':
      return { ...h, selection: within(marked(h.selection, action), h.doc), tag: null };
    case 'place':
      return { ...h, doc: { ...h.doc, layout: action.layout } };
    case 'pause':
      return h.tag === null ? h : { ...h, tag: null };
    case 'undo': {
      const doc = h.past.at(-1);
      if (!doc) return h;
      return {
        doc,
        selection: within(h.selection, doc),
        past: h.past.slice(0, -1),
        future: [h.doc, ...h.future],
        tag: null,
      };
    }
    case 'redo': {
      const [doc, ...future] = h.future;
      if (!doc) return h;
      return { doc, selection: within(h.selection, doc), past: [...h.past, h.doc], future, tag: null };
    }
  }
}

function marked(s: Selection, by: Extract<Action, { type: 'mark' }>): Selection {
  const off = new Set(by.nodes?.filter((n) => !n.on).map((n) => n.key));
  const on = by.nodes?.filter((n) => n.on).map((n) => n.key) ?? [];
  const nodes = [...new Set([...s.nodes.filter((key) => !off.has(key)), ...on])];
  const same = nodes.length === s.nodes.length && nodes.every((key, i) => s.nodes[i] === key);
  const left = by.edges?.some((e) => !e.on && e.index === s.edge) ? null : s.edge;
  const edge = by.edges?.find((e) => e.on)?.index ?? left;
  return { nodes: by.edges?.some((e) => e.on) ? [] : nodes, edge, field: same ? s.field : null };
}

/** The selection without what is no longer there. */
function within(s: Selection, doc: Doc): Selection {
  const nodes = s.nodes.filter((key) => doc.definition.nodes.some((n) => n.key === key));
  const edge = s.edge !== null && doc.definition.edges[s.edge] ? s.edge : null;
  const only = nodes.length === 1 ? doc.definition.nodes.find((n) => n.key === nodes[0]) : undefined;
  const field = s.field !== null && only?.fields?.[s.field] ? s.field : null;
  return { nodes, edge: nodes.length > 0 ? null : edge, field };
}
