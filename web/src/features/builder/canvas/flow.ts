import { MarkerType } from '@xyflow/react';
import { inWords } from '@/pipeline/conditions';
import { type Definition, labelOf } from '@/pipeline/definition';
import { inOrder } from '@/pipeline/graph';
import type { Doc, Selection } from '@/pipeline/history';
import type { StepEdgeType } from './StepEdge';
import { kindLabels, type StepNodeType, summary } from './StepNode';

/** The nodes as the canvas draws them, from start to end, which is also the order of Tab. */
export function flowNodes(
  doc: Doc,
  selection: Selection,
  problems: ReadonlyMap<string, number>,
  before: readonly StepNodeType[],
): StepNodeType[] {
  const old = new Map(before.map((n) => [n.id, n]));
  const titles = new Map(doc.definition.nodes.map((n) => [n.key, labelOf(n)]));
  return inOrder(doc.definition).map((node) => {
    const was = old.get(node.key);
    const at = doc.layout[node.key] ?? [0, 0];
    const found = problems.get(node.key) ?? 0;
    const selected = selection.nodes.includes(node.key);
    const about = summary(node, (key) => titles.get(key) ?? key);
    const same = was && was.data.node === node && was.data.about === about && was.data.problems === found;
    const data = same ? was.data : { node, about, problems: found };
    const still = was && was.data === data && was.selected === selected;
    if (still && !was.dragging && was.position.x === at[0] && was.position.y === at[1]) return was;
    const title = node.title || (node.kind === 'start' || node.kind === 'end' ? '' : node.key);
    return {
      ...was,
      id: node.key,
      type: 'step',
      position: was?.dragging ? was.position : { x: at[0], y: at[1] },
      data,
      selected,
      ariaLabel: [
        `${kindLabels[node.kind] ?? node.kind}${title ? `: ${title}` : ''}`,
        about,
        found > 0 ? `${found} ${found === 1 ? 'problem' : 'problems'}` : '',
      ]
        .filter(Boolean)
        .join(', '),
    };
  });
}

export function flowEdges(d: Definition, selection: Selection, onInsert: (index: number) => void): StepEdgeType[] {
  const known = new Map(d.nodes.map((n) => [n.key, n]));
  return d.edges.flatMap((e, index) => {
    const [from, to] = [known.get(e.from), known.get(e.to)];
    if (!from || !to) return [];
    const label = e.when ? inWords(e.when) : null;
    const edge: StepEdgeType = {
      id: String(index),
      type: 'step',
      source: e.from,
      target: e.to,
      selected: selection.edge === index,
      markerEnd: { type: MarkerType.ArrowClosed, width: 18, height: 18 },
      data: { label, index, onInsert },
      ariaLabel: `Connection from ${labelOf(from)} to ${labelOf(to)}${label ? `, when ${label}` : ''}`,
    };
    return [edge];
  });
}
