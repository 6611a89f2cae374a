import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { IconChecklist, IconForms, IconLayoutSidebar, IconSitemap } from '@tabler/icons-react';
import { Panel, useReactFlow } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useState } from 'react';
import type { Kind } from '@/pipeline/definition';
import { AddDialog, ConnectDialog, type Where } from './AddDialog';
import type { View } from './Builder';
import classes from './builder.module.css';
import { Canvas } from './canvas/Canvas';
import { focusNode } from './canvas/focus';
import { useCanvasActions } from './canvas/useCanvasKeys';
import { Inspector } from './inspector/Inspector';
import { Outline } from './Outline';
import * as commands from './state/commands';
import { useBuilder } from './state/context';

interface Props {
  panel: RefObject<HTMLDivElement | null>;
  outline: boolean;
  onOutline: (open: boolean) => void;
  onView: (view: View) => void;
}

/** Outline, graph and panel. */
export function Workspace({ panel, outline, onOutline, onView }: Props) {
  const { doc, selection, dispatch, focusPart } = useBuilder();
  const flow = useReactFlow();
  const [where, setWhere] = useState<Where | null>(null);
  const [connecting, setConnecting] = useState<string | null>(null);
  const shown = `${selection.nodes.join(' ')} ${selection.edge} ${selection.field}`;
  useEffect(() => {
    if (shown && panel.current) panel.current.scrollTop = 0;
  }, [shown, panel]);
  const open = useCallback(() => focusPart(selection.edge === null ? 'title' : 'when'), [focusPart, selection.edge]);
  const actions = useCanvasActions({
    open,
    connect: setConnecting,
    rename: () => {
      focusPart('title');
      requestAnimationFrame(() =>
        requestAnimationFrame(() => (document.activeElement as HTMLInputElement | null)?.select?.()),
      );
    },
  });
  const addAt = (kind: Kind) => {
    if (!where) return;
    if ('edge' in where) {
      const added = commands.addInto(doc, where.edge, kind);
      dispatch({ type: 'edit', change: () => added.doc, select: { nodes: [added.key], edge: null, field: null } });
      focusNode(added.key);
    } else {
      const added = commands.addStep(doc, kind, null, where.at);
      const next = commands.connectSteps(added.doc, where.after, added.key);
      dispatch({ type: 'edit', change: () => next, select: { nodes: [added.key], edge: null, field: null } });
      focusNode(added.key);
    }
    setWhere(null);
  };
  const lacks = (['start', 'end'] as const).filter((kind) => !doc.definition.nodes.some((n) => n.kind === kind));
  return (
    <>
      <div className={`${classes.pane} ${classes.outlinePane} ${classes.scroll} ${classes.outline}`} data-outline-pane>
        <Outline
          onOpen={() => {
            onView('edit');
            const key = selection.nodes[0];
            if (key) void flow.fitView({ nodes: [{ id: key }], maxZoom: flow.getZoom(), duration: 150 });
          }}
        />
      </div>
      <div className={`${classes.pane} ${classes.graphPane}`}>
        <Canvas onOpen={open} onAdd={setWhere}>
          <Panel position="top-left" className={classes.tools}>
            <Tooltip label={outline ? 'Hide the outline' : 'Show the outline'}>
              <ActionIcon
                variant="default"
                size={30}
                className={classes.wide}
                aria-label="Outline"
                aria-pressed={outline}
                onClick={() => onOutline(!outline)}
              >
                <IconLayoutSidebar size={16} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label="Add a step after the selected one (N)">
              <Button
                size="compact-md"
                variant="default"
                leftSection={<IconForms size={15} />}
                onClick={() => actions.add('subtask')}
                aria-keyshortcuts="n"
              >
                Step
              </Button>
            </Tooltip>
            <Tooltip label="Add a review after the selected one (R)">
              <Button
                size="compact-md"
                variant="default"
                leftSection={<IconChecklist size={15} />}
                onClick={() => actions.add('review')}
                aria-keyshortcuts="r"
              >
                Review
              </Button>
            </Tooltip>
            {lacks.map((kind) => (
              <Button key={kind} size="compact-md" variant="default" onClick={() => actions.add(kind)}>
                {kind === 'start' ? 'Start' : 'End'}
              </Button>
            ))}
            <Tooltip label="Arrange all steps (L)">
              <ActionIcon
                variant="default"
                size={30}
                aria-label="Arrange all steps"
                aria-keyshortcuts="l"
                onClick={actions.arrange}
              >
                <IconSitemap size={16} style={{ transform: 'rotate(-90deg)' }} />
              </ActionIcon>
            </Tooltip>
          </Panel>
          {(selection.nodes.length > 0 || selection.edge !== null) && (
            <Panel position="bottom-center">
              <Group className={classes.narrow}>
                <Button size="compact-md" onClick={() => onView('edit')}>
                  Edit
                </Button>
              </Group>
            </Panel>
          )}
        </Canvas>
      </div>
      <section className={`${classes.pane} ${classes.editPane} ${classes.scroll}`} ref={panel} aria-label="Properties">
        <Inspector actions={actions} />
      </section>
      <AddDialog where={where} onAdd={addAt} onClose={() => setWhere(null)} />
      <ConnectDialog
        from={connecting}
        onClose={() => setConnecting(null)}
        onConnect={(to) => {
          const from = connecting;
          if (from) {
            dispatch({ type: 'edit', change: (d) => commands.connectSteps(d, from, to) });
            focusNode(from);
          }
          setConnecting(null);
        }}
      />
    </>
  );
}
