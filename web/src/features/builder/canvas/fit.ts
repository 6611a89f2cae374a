import type { FitViewOptions, ReactFlowInstance } from '@xyflow/react';
import type { Layout } from '@/pipeline/definition';
import type { StepEdgeType } from './StepEdge';
import type { StepNodeType } from './StepNode';

export type Flow = ReactFlowInstance<StepNodeType, StepEdgeType>;

/** The toolbar lies over the top of the canvas: what is fitted begins below it. */
export const fitted = { padding: { top: '60px', x: 0.15, bottom: 0.15 }, maxZoom: 1 } satisfies FitViewOptions;

/** Shows the whole graph once the canvas has the new positions; fitting before that would show another place. */
export function fitAfter(flow: Flow, layout: Layout, then: () => void = () => {}, tries = 60) {
  const there = flow.getNodes().every((n) => {
    const at = layout[n.id];
    return !at || (n.position.x === at[0] && n.position.y === at[1]);
  });
  if (!there && tries > 0) {
    requestAnimationFrame(() => fitAfter(flow, layout, then, tries - 1));
    return;
  }
  void flow.fitView(fitted);
  then();
}
