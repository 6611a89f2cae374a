import { chunk } from '@/lib/chunk';
import type { Definition, Layout } from './definition';

/** Width and height of a node on the canvas, in pixels. */
export interface Size {
  width: number;
  height: number;
}

export const usualSize: Size = { width: 220, height: 64 };

/** Between a node and the one below it, and between neighbours. */
export const gap = { below: 76, beside: 48 };

/** Positions of all nodes from top to bottom, by their measured sizes. Loads the layouter when it is first needed. */
export async function arrange(d: Definition, sizes: ReadonlyMap<string, Size> = new Map()): Promise<Layout> {
  const { default: dagre } = await chunk(() => import('@dagrejs/dagre'))();
  const g = new dagre.graphlib.Graph({ multigraph: false });
  g.setGraph({ rankdir: 'TB', nodesep: gap.beside, ranksep: gap.below, marginx: 0, marginy: 0 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const n of d.nodes) g.setNode(n.key, { ...(sizes.get(n.key) ?? usualSize) });
  for (const e of d.edges) {
    if (e.from !== e.to && g.hasNode(e.from) && g.hasNode(e.to)) g.setEdge(e.from, e.to);
  }
  dagre.layout(g);
  const out: Layout = {};
  for (const n of d.nodes) {
    const { x, y, width, height } = g.node(n.key);
    out[n.key] = [Math.round(x - width / 2), Math.round(y - height / 2)];
  }
  return out;
}

/** The kept positions, with free ones for nodes that have none; null when hardly any is known, so that all is arranged. */
export function complete(d: Definition, kept: Layout): Layout | null {
  const known = d.nodes.filter((n) => kept[n.key]);
  if (known.length === 0 || known.length * 2 < d.nodes.length) return null;
  const out: Layout = {};
  for (const n of d.nodes) {
    out[n.key] = kept[n.key] ?? placeBeside(d, n.key, { ...kept, ...out });
  }
  return out;
}

/** A free place below what leads to the node, else below everything. */
export function placeBeside(d: Definition, key: string, at: Layout): [number, number] {
  const from = d.edges.find((e) => e.to === key && at[e.from]);
  const base = from && at[from.from];
  if (!base) {
    const all = Object.values(at);
    return [0, all.length > 0 ? Math.max(...all.map((p) => p[1])) + usualSize.height + gap.below : 0];
  }
  return free([base[0], base[1] + usualSize.height + gap.below], at);
}

/** The place, moved to the right until no node stands there. */
export function free([x, y]: [number, number], at: Layout): [number, number] {
  const taken = Object.values(at);
  let right = x;
  while (taken.some(([a, b]) => Math.abs(a - right) < usualSize.width && Math.abs(b - y) < usualSize.height + 10)) {
    right += usualSize.width + gap.beside;
  }
  return [right, y];
}
