import { type Clip, paste } from '@/pipeline/clipboard';
import type { Kind, Layout } from '@/pipeline/definition';
import { addAfter, addNode, connect, insertInto, removeEdge, removeNodes, renameNode } from '@/pipeline/edit';
import { below } from '@/pipeline/graph';
import type { Doc } from '@/pipeline/history';
import { gap, placeBeside, usualSize } from '@/pipeline/layout';

/** The commands of the canvas: a changed definition with a place for whatever is new. */
export interface Added {
  doc: Doc;
  key: string;
}

/** A step behind another one, or at a place of its own. */
export function addStep(doc: Doc, kind: Kind, after: string | null, at?: [number, number]): Added {
  const { definition, key } = at ? addNode(doc.definition, kind) : addAfter(doc.definition, after, kind);
  const next = { definition, layout: doc.layout };
  if (at) return { doc: { definition, layout: { ...doc.layout, [key]: at } }, key };
  return { doc: makeRoom(next, key), key };
}

/** A step in the middle of an edge. */
export function addInto(doc: Doc, edge: number, kind: Kind): Added {
  const { definition, key } = addNode(doc.definition, kind);
  return { doc: makeRoom({ definition: insertInto(definition, edge, key), layout: doc.layout }, key), key };
}

/** Puts the new node below what leads to it and moves what comes after it out of the way. */
function makeRoom(doc: Doc, key: string): Doc {
  const after = [...below(doc.definition, key)].filter((k) => doc.layout[k]);
  const others = Object.fromEntries(Object.entries(doc.layout).filter(([k]) => !after.includes(k)));
  const at = placeBeside(doc.definition, key, others);
  const layout: Layout = { ...doc.layout, [key]: at };
  const nearest = Math.min(...after.map((k) => layout[k]?.[1] ?? Number.POSITIVE_INFINITY));
  const shift = at[1] + usualSize.height + gap.below - nearest;
  if (shift > 0) {
    for (const k of after) {
      const p = layout[k];
      if (p) layout[k] = [p[0], p[1] + shift];
    }
  }
  return { definition: doc.definition, layout };
}

export function connectSteps(doc: Doc, from: string, to: string): Doc {
  return { ...doc, definition: connect(doc.definition, from, to) };
}

export function remove(doc: Doc, keys: readonly string[], edge: number | null): Doc {
  if (keys.length > 0) return { ...doc, definition: removeNodes(doc.definition, keys) };
  return edge === null ? doc : { ...doc, definition: removeEdge(doc.definition, edge) };
}

export function rename(doc: Doc, from: string, to: string): Doc {
  const { [from]: at, ...rest } = doc.layout;
  return { definition: renameNode(doc.definition, from, to), layout: at ? { ...rest, [to]: at } : rest };
}

export function move(doc: Doc, to: Layout): Doc {
  const moved = Object.entries(to).some(([k, [x, y]]) => doc.layout[k]?.[0] !== x || doc.layout[k]?.[1] !== y);
  return moved ? { ...doc, layout: { ...doc.layout, ...to } } : doc;
}

export function pasteClip(doc: Doc, clip: Clip): { doc: Doc; keys: string[] } {
  const { definition, layout, keys } = paste(doc.definition, doc.layout, clip);
  return { doc: { definition, layout }, keys };
}
