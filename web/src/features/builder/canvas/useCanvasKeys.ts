import { useReactFlow } from '@xyflow/react';
import { useEffect, useRef } from 'react';
import { type Binding, modalIsOpen, useHotkeys } from '@/lib/hotkeys';
import { type Clip, copy, readClip } from '@/pipeline/clipboard';
import type { Kind } from '@/pipeline/definition';
import type { Action } from '@/pipeline/history';
import { arrange } from '@/pipeline/layout';
import * as commands from '../state/commands';
import { useBuilder } from '../state/context';
import { sizesOf } from './Canvas';
import { type Flow, fitAfter, fitted } from './fit';
import { focused, focusNode, inCanvas } from './focus';
import type { StepEdgeType } from './StepEdge';
import type { StepNodeType } from './StepNode';
import { type Direction, walk } from './walk';

export interface CanvasActions {
  add: (kind: Kind) => void;
  connect: () => void;
  open: () => void;
  rename: () => void;
  remove: () => void;
  duplicate: () => void;
  copy: () => void;
  paste: () => void;
  arrange: () => void;
  fit: () => void;
}

interface Ways {
  /** Opens the panel of the selection and goes there. */
  open: () => void;
  rename: () => void;
  connect: (from: string) => void;
}

const arrows: [string, Direction][] = [
  ['ArrowDown', 'down'],
  ['ArrowUp', 'up'],
  ['ArrowLeft', 'left'],
  ['ArrowRight', 'right'],
];
const steps: Record<Direction, [number, number]> = { right: [24, 0], left: [-24, 0], up: [0, -24], down: [0, 24] };

/** What the canvas can do, and the keys for it: everything that the mouse does. */
export function useCanvasActions(ways: Ways): CanvasActions {
  const { doc, selection, dispatch } = useBuilder();
  const flow = useReactFlow<StepNodeType, StepEdgeType>();
  const clip = useRef<Clip | null>(null);
  const only = selection.nodes.length === 1 ? (selection.nodes[0] ?? null) : null;

  const fit = () => void flow.fitView({ ...fitted, duration: 200 });
  const insert = (from: Clip) => {
    const pasted = commands.pasteClip(doc, from);
    if (pasted.keys.length === 0) return;
    dispatch({ type: 'edit', change: () => pasted.doc, select: { nodes: pasted.keys } });
    const first = pasted.keys[0];
    if (first) focusNode(first);
  };
  const actions: CanvasActions = {
    add(kind) {
      const added =
        selection.edge !== null
          ? commands.addInto(doc, selection.edge, kind)
          : commands.addStep(doc, kind, only ?? lastBeforeEnd(doc.definition.edges, doc.definition.nodes));
      dispatch({ type: 'edit', change: () => added.doc, select: { nodes: [added.key], edge: null, field: null } });
      focusNode(added.key);
    },
    connect: () => only && ways.connect(only),
    open: ways.open,
    rename: () => only && ways.rename(),
    remove() {
      if (selection.nodes.length === 0 && selection.edge === null) return;
      const edge = selection.edge === null ? undefined : doc.definition.edges[selection.edge];
      const left = doc.definition.nodes.map((n) => n.key).filter((key) => !selection.nodes.includes(key));
      const before = edge?.from ?? doc.definition.edges.find((e) => e.to === selection.nodes[0])?.from;
      const stays = before && left.includes(before) ? before : (left[0] ?? null);
      const inside = inCanvas(document.activeElement);
      dispatch({
        type: 'edit',
        change: (d) => commands.remove(d, selection.nodes, selection.edge),
        select: { nodes: stays ? [stays] : [], edge: null, field: null },
      });
      if (stays && inside) focusNode(stays);
    },
    duplicate: () => insert(copy(doc.definition, doc.layout, selection.nodes)),
    copy() {
      const made = copy(doc.definition, doc.layout, selection.nodes);
      if (made.nodes.length > 0) clip.current = made;
    },
    paste: () => clip.current && insert(clip.current),
    arrange() {
      void arrange(doc.definition, sizesOf(flow.getNodes())).then((layout) => {
        dispatch({ type: 'edit', change: (d) => commands.move(d, layout) });
        fitAfter(flow, layout);
      });
    },
    fit,
  };

  useClipboardEvents({
    copied: () => {
      actions.copy();
      return copy(doc.definition, doc.layout, selection.nodes);
    },
    cut: actions.remove,
    pasted: insert,
  });
  useHotkeys(bindingsOf(actions, useWalk(), flow, dispatch));
  return actions;
}

/** Arrow keys over the graph; with Shift the selection grows, with Alt the node moves. */
function useWalk() {
  const { doc, selection, dispatch } = useBuilder();
  const flow = useReactFlow();
  return (direction: Direction, how: 'go' | 'grow' | 'move') => (event: KeyboardEvent) => {
    if (!inCanvas(event.target)) return false;
    const at = focused();
    const edge = at.edge === undefined ? undefined : doc.definition.edges[at.edge];
    const from = at.node ?? (edge && (direction === 'up' ? edge.from : edge.to)) ?? selection.nodes[0];
    if (how === 'move') {
      const keys = selection.nodes.length > 0 ? selection.nodes : from ? [from] : [];
      const [dx, dy] = steps[direction];
      const change = (d: typeof doc) =>
        commands.move(
          d,
          Object.fromEntries(keys.map((k) => [k, [(d.layout[k]?.[0] ?? 0) + dx, (d.layout[k]?.[1] ?? 0) + dy]])),
        );
      dispatch({ type: 'edit', change, tag: `move ${keys.join(' ')}` });
      return true;
    }
    const next = edge ? from : from ? walk(doc.definition, doc.layout, from, direction) : doc.definition.nodes[0]?.key;
    if (!next) return true;
    const nodes = how === 'grow' ? [...new Set([...selection.nodes, next])] : [next];
    dispatch({ type: 'select', selection: { nodes } });
    focusNode(next);
    show(flow, next);
    return true;
  };
}

/** Moves the view when the node is outside of it. */
function show(flow: ReturnType<typeof useReactFlow>, key: string) {
  const node = flow.getInternalNode(key);
  const pane = document.querySelector('.react-flow')?.getBoundingClientRect();
  if (!node || !pane) return;
  const { x, y } = node.internals.positionAbsolute;
  const [width, height] = [node.measured.width ?? 0, node.measured.height ?? 0];
  const a = flow.flowToScreenPosition({ x, y });
  const b = flow.flowToScreenPosition({ x: x + width, y: y + height });
  if (a.x >= pane.left && a.y >= pane.top && b.x <= pane.right && b.y <= pane.bottom) return;
  void flow.setCenter(x + width / 2, y + height / 2, { zoom: flow.getZoom(), duration: 150 });
}

function bindingsOf(
  a: CanvasActions,
  go: ReturnType<typeof useWalk>,
  flow: Flow,
  dispatch: (action: Action) => void,
): Binding[] {
  const group = 'Graph';
  const inGraph = (run: () => unknown) => (e: KeyboardEvent) => {
    if (!inCanvas(e.target) && e.target !== document.body) return false;
    run();
    return true;
  };
  return [
    { keys: 'n', label: 'Add a step after the selected one', group, run: () => a.add('subtask') },
    { keys: 'r', label: 'Add a review after the selected one', group, run: () => a.add('review') },
    { keys: 'c', label: 'Connect to another step', group, run: a.connect },
    { keys: 'Enter', label: 'Edit what is selected', group, run: inGraph(a.open) },
    { keys: 'F2', label: 'Rename', group, run: a.rename },
    { keys: 'Delete', label: 'Delete', group, run: inGraph(a.remove) },
    { keys: 'Backspace', label: 'Delete', group, run: inGraph(a.remove), hidden: true },
    { keys: 'mod+d', label: 'Duplicate', group, run: a.duplicate },
    // The browser's own events do these three: they reach the system's clipboard.
    { keys: 'mod+c', label: 'Copy', group, run: () => false },
    { keys: 'mod+x', label: 'Cut', group, run: () => false },
    { keys: 'mod+v', label: 'Paste', group, run: () => false },
    {
      keys: 'mod+a',
      label: 'Select all',
      group,
      run: inGraph(() => dispatch({ type: 'mark', nodes: flow.getNodes().map((n) => ({ key: n.id, on: true })) })),
    },
    ...arrows.map(
      ([keys, to], i): Binding => ({
        keys,
        label: 'Walk along the graph',
        group,
        run: go(to, 'go'),
        repeat: true,
        hidden: i > 0,
      }),
    ),
    ...arrows.map(
      ([keys, to], i): Binding => ({
        keys: `shift+${keys}`,
        label: 'Select more',
        group,
        run: go(to, 'grow'),
        hidden: i > 0,
      }),
    ),
    ...arrows.map(
      ([keys, to], i): Binding => ({
        keys: `alt+${keys}`,
        label: 'Move the step',
        group,
        run: go(to, 'move'),
        repeat: true,
        hidden: i > 0,
      }),
    ),
    { keys: 'l', label: 'Arrange all steps', group, run: a.arrange },
    { keys: '0', label: 'Show the whole graph', group, run: a.fit },
    { keys: '1', label: 'Full size', group, run: () => void flow.zoomTo(1, { duration: 150 }) },
    { keys: '+', label: 'Zoom in', group, run: () => void flow.zoomIn({ duration: 150 }) },
    { keys: '-', label: 'Zoom out', group, run: () => void flow.zoomOut({ duration: 150 }) },
  ];
}

/** Copy, cut and paste through the system's clipboard, outside of inputs and selected text. */
function useClipboardEvents(ways: { copied: () => Clip; cut: () => void; pasted: (clip: Clip) => void }) {
  const latest = useRef(ways);
  latest.current = ways;
  useEffect(() => {
    const free = (e: ClipboardEvent) => {
      const t = e.target instanceof Element ? e.target : null;
      if (modalIsOpen() || t?.closest('input, textarea, [contenteditable="true"], [role="dialog"]')) return false;
      return document.getSelection()?.isCollapsed !== false;
    };
    const onCopy = (e: ClipboardEvent) => {
      if (!free(e)) return;
      const clip = latest.current.copied();
      if (clip.nodes.length === 0) return;
      e.clipboardData?.setData('text/plain', JSON.stringify(clip));
      e.preventDefault();
      if (e.type === 'cut') latest.current.cut();
    };
    const onPaste = (e: ClipboardEvent) => {
      if (!free(e)) return;
      const clip = readClip(e.clipboardData?.getData('text/plain') ?? '');
      if (!clip) return;
      e.preventDefault();
      latest.current.pasted(clip);
    };
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, []);
}

/** Where a step goes when nothing is selected: behind what leads to the end. */
function lastBeforeEnd(edges: readonly { from: string; to: string }[], nodes: readonly { key: string; kind: Kind }[]) {
  const end = nodes.find((n) => n.kind === 'end')?.key;
  return edges.findLast((e) => e.to === end)?.from ?? nodes.find((n) => n.kind === 'start')?.key ?? null;
}
