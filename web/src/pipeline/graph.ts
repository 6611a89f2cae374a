import type { Definition, Field, PipelineNode } from './definition';

/** Keys of the nodes from which a path leads to the node, itself only on a cycle. */
export function above(d: Definition, key: string): Set<string> {
  return reach(key, (k) => d.edges.filter((e) => e.to === k).map((e) => e.from));
}

/** Keys of the nodes to which a path leads from the node. */
export function below(d: Definition, key: string): Set<string> {
  return reach(key, (k) => d.edges.filter((e) => e.from === k).map((e) => e.to));
}

function reach(key: string, next: (key: string) => string[]): Set<string> {
  const seen = new Set<string>();
  const todo = next(key);
  for (let k = todo.pop(); k !== undefined; k = todo.pop()) {
    if (seen.has(k)) continue;
    seen.add(k);
    todo.push(...next(k));
  }
  return seen;
}

/** A field with the node whose form it is in. */
export interface Placed {
  node: PipelineNode;
  field: Field;
}

function placed(nodes: PipelineNode[]): Placed[] {
  return nodes.flatMap((node) => (node.fields ?? []).map((field) => ({ node, field })));
}

/** What a field may refer to: the upstream fields and those before it in its form. */
export function knownToField(d: Definition, key: string, index: number): Placed[] {
  const up = above(d, key);
  const node = d.nodes.find((n) => n.key === key);
  const own = node ? placed([node]).slice(0, index) : [];
  return [...placed(inOrder(d).filter((n) => up.has(n.key) && n.key !== key)), ...own];
}

/** What the condition of an edge may look at: the fields of its source and those upstream; at start what tasks are created with. */
export function knownToEdge(d: Definition, from: string): Placed[] {
  const source = d.nodes.find((n) => n.key === from);
  if (source?.kind === 'start') {
    return placed(inOrder(d)).filter(({ field }) => field.input === 'seeded' || field.input === 'static');
  }
  const up = above(d, from).add(from);
  return placed(inOrder(d).filter((n) => up.has(n.key)));
}

/** The subtasks that a review may check. */
export function reviewable(d: Definition, key: string): PipelineNode[] {
  const up = above(d, key);
  return inOrder(d).filter((n) => n.kind === 'subtask' && up.has(n.key));
}

/** Whether the edge may be drawn: not to itself, not twice, not into start, not out of end, not closing a cycle. */
export function mayConnect(d: Definition, from: string, to: string): string | null {
  const [a, b] = [d.nodes.find((n) => n.key === from), d.nodes.find((n) => n.key === to)];
  if (!a || !b) return 'There is no such step.';
  if (from === to) return 'A step cannot lead to itself.';
  if (a.kind === 'end') return 'Nothing comes after the end.';
  if (b.kind === 'start') return 'Nothing comes before the start.';
  if (d.edges.some((e) => e.from === from && e.to === to)) return 'These two are connected already.';
  if (above(d, from).has(to)) return 'That would be a circle. To have work done again, let a review send it back.';
  return null;
}

/** The nodes from start to end: each after those that lead to it, else as in the document. */
export function inOrder(d: Definition): PipelineNode[] {
  const left = new Map(d.nodes.map((n) => [n.key, n]));
  const out: PipelineNode[] = [];
  while (left.size > 0) {
    const open = [...left.values()];
    const free = open.filter((n) => !d.edges.some((e) => e.to === n.key && e.from !== n.key && left.has(e.from)));
    const next = free.filter((n) => n.kind !== 'end')[0] ?? free[0] ?? open[0];
    if (!next) break;
    left.delete(next.key);
    out.push(next);
  }
  return out;
}
