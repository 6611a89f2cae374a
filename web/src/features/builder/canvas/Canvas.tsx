import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import {
  applyNodeChanges,
  Background,
  type Connection,
  Controls,
  type EdgeChange,
  type IsValidConnection,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  useNodesInitialized,
  useReactFlow,
} from '@xyflow/react';
import { type FocusEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Layout } from '@/pipeline/definition';
import { mayConnect } from '@/pipeline/graph';
import { arrange, complete, type Size } from '@/pipeline/layout';
import { countByNode } from '@/pipeline/problems';
import * as commands from '../state/commands';
import { useBuilder } from '../state/context';
import classes from './canvas.module.css';
import { fitAfter, fitted } from './fit';
import { flowEdges, flowNodes } from './flow';
import { focused } from './focus';
import { StepEdge, type StepEdgeType } from './StepEdge';
import { StepNode, type StepNodeType } from './StepNode';

const nodeTypes = { step: StepNode };
const edgeTypes = { step: StepEdge };

interface Props {
  /** Opens the panel of what is selected. */
  onOpen: () => void;
  /** Asks what kind of step to put into an edge, or at the end of a connection that was dropped on nothing. */
  onAdd: (where: { edge: number } | { after: string; at: [number, number] }) => void;
  children?: ReactNode;
}

/** The measured size of every node on the canvas. */
export function sizesOf(nodes: readonly StepNodeType[]): Map<string, Size> {
  return new Map(
    nodes.flatMap((n) =>
      n.measured?.width && n.measured.height ? [[n.id, { width: n.measured.width, height: n.measured.height }]] : [],
    ),
  );
}

/** The graph: drag to move, drag from a handle to connect, click to select. Its keys are in useCanvasKeys. */
export function Canvas({ onOpen, onAdd, children }: Props) {
  const { doc, selection, problems, dispatch } = useBuilder();
  const scheme = useComputedColorScheme('light');
  const flow = useReactFlow<StepNodeType, StepEdgeType>();
  const counts = useMemo(() => countByNode(doc.definition, problems), [doc.definition, problems]);
  const [nodes, setNodes] = useState<StepNodeType[]>(() => flowNodes(doc, selection, counts, []));
  useEffect(() => setNodes((before) => flowNodes(doc, selection, counts, before)), [doc, selection, counts]);

  const insert = useCallback((edge: number) => onAdd({ edge }), [onAdd]);
  const edges = useMemo(() => flowEdges(doc.definition, selection, insert), [doc.definition, selection, insert]);
  const ready = useFirstLayout(nodes, doc.layout);

  const onNodesChange = useCallback(
    (changes: NodeChange<StepNodeType>[]) => {
      const marks = changes.flatMap((c) => (c.type === 'select' ? [{ key: c.id, on: c.selected }] : []));
      if (marks.length > 0) dispatch({ type: 'mark', nodes: marks });
      const rest = changes.filter((c) => c.type === 'position' || c.type === 'dimensions');
      if (rest.length > 0) setNodes((before) => applyNodeChanges(rest, before));
    },
    [dispatch],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<StepEdgeType>[]) => {
      const marks = changes.flatMap((c) => (c.type === 'select' ? [{ index: Number(c.id), on: c.selected }] : []));
      if (marks.length > 0) dispatch({ type: 'mark', edges: marks });
    },
    [dispatch],
  );
  const onConnect = useCallback(
    ({ source, target }: Connection) =>
      dispatch({ type: 'edit', change: (d) => commands.connectSteps(d, source, target) }),
    [dispatch],
  );
  const isValid: IsValidConnection<StepEdgeType> = useCallback(
    (c) => mayConnect(doc.definition, c.source, c.target) === null,
    [doc.definition],
  );
  const onConnectEnd: OnConnectEnd = useCallback(
    (event, state) => {
      if (state.toNode || state.fromHandle?.type !== 'source' || !state.fromNode) return;
      const point = 'changedTouches' in event ? event.changedTouches[0] : event;
      if (!point) return;
      const p = flow.screenToFlowPosition({ x: point.clientX, y: point.clientY });
      onAdd({ after: state.fromNode.id, at: [Math.round(p.x - 110), Math.round(p.y)] });
    },
    [flow, onAdd],
  );
  const onDragStop = useCallback(
    (_: unknown, __: unknown, moved: StepNodeType[]) => {
      const to: Layout = Object.fromEntries(
        moved.map((n) => [n.id, [Math.round(n.position.x), Math.round(n.position.y)]]),
      );
      dispatch({ type: 'edit', change: (d) => commands.move(d, to) });
    },
    [dispatch],
  );

  // Tab and the arrows select what they reach; the mouse selects by clicks.
  const onFocus = (e: FocusEvent<HTMLElement>) => {
    const at = focused();
    if (e.target !== document.activeElement || !e.target.matches(':focus-visible')) return;
    if (at.node && !selection.nodes.includes(at.node)) dispatch({ type: 'select', selection: { nodes: [at.node] } });
    if (at.edge !== undefined && at.edge !== selection.edge) dispatch({ type: 'select', selection: { edge: at.edge } });
  };

  return (
    <section
      className={classes.canvas}
      onFocus={onFocus}
      data-hidden={ready ? undefined : true}
      aria-label="Graph of the pipeline"
    >
      <ReactFlow<StepNodeType, StepEdgeType>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={scheme}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={isValid}
        onNodeDragStop={onDragStop}
        onSelectionDragStop={(_, moved) => onDragStop(_, null, moved)}
        onNodeDoubleClick={onOpen}
        onEdgeDoubleClick={onOpen}
        deleteKeyCode={null}
        panActivationKeyCode={null}
        disableKeyboardA11y
        connectionRadius={32}
        minZoom={0.15}
        maxZoom={2}
        fitView
        fitViewOptions={fitted}
        snapToGrid
        snapGrid={[8, 8]}
      >
        <Background gap={24} />
        <Controls showInteractive={false} position="bottom-left" fitViewOptions={fitted} />
        {children}
      </ReactFlow>
    </section>
  );
}

/** Lays the graph out once its nodes are measured, unless their places were kept; only then is it shown. */
function useFirstLayout(nodes: readonly StepNodeType[], layout: Layout): boolean {
  const { doc, dispatch } = useBuilder();
  const flow = useReactFlow<StepNodeType, StepEdgeType>();
  const measured = useNodesInitialized();
  const [ready, setReady] = useState(false);
  const done = useRef(false);
  useEffect(() => {
    if (!measured || done.current) return;
    done.current = true;
    const kept = complete(doc.definition, layout);
    void Promise.resolve(kept ?? arrange(doc.definition, sizesOf(nodes))).then((places) => {
      dispatch({ type: 'place', layout: places });
      fitAfter(flow, places, () => setReady(true));
    });
  }, [measured, nodes, layout, doc.definition, dispatch, flow]);
  return ready;
}
