import { Button, Modal, SegmentedControl, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useMemo, useReducer, useRef, useState } from 'react';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { useMe } from '@/features/session/me';
import { chunk } from '@/lib/chunk';
import { useHotkeys } from '@/lib/hotkeys';
import type { Definition } from '@/pipeline/definition';
import { type Action, begin, type Doc, reduce, type Selection } from '@/pipeline/history';
import { normalize } from '@/pipeline/normalize';
import { type DefinitionProblem, placeOf } from '@/pipeline/problems';
import { confirm } from '@/ui/ConfirmDialog';
import { ErrorNote } from '@/ui/ErrorNote';
import classes from './builder.module.css';
import { Conflict } from './Conflict';
import { focusNode } from './canvas/focus';
import { focusPartIn } from './focusPart';
import { LiveNote } from './LiveNote';
import { Checklist } from './publish/Checklist';
import { PublishDialog } from './publish/PublishDialog';
import { type Draft, infoQuery } from './queries';
import { BuilderProvider, type Builder as BuilderValue } from './state/context';
import type { DraftState } from './state/draft';
import { useDraft } from './state/useDraft';
import { Toolbar } from './Toolbar';
import { useCheck } from './useCheck';
import { Workspace } from './Workspace';
import { YamlDialog } from './Yaml';

const Preview = lazy(chunk(() => import('./Preview')));

interface Props {
  polled: Draft;
  /** What the draft starts from, and what is shown first: unsaved work of this browser, when there is some. */
  first: DraftState;
  doc: Doc;
}

type Open = 'check' | 'publish' | 'preview' | 'yaml' | null;
export type View = 'graph' | 'steps' | 'edit';

/** The builder of one pipeline. */
export function Builder({ polled, first, doc: start }: Props) {
  const { id } = polled;
  const { me } = useMe();
  const [history, act] = useReducer(reduce, start, begin);
  const { doc, selection } = history;
  const draft = useDraft(id, me.id, doc, first, polled);
  const { placed } = draft;
  const dispatch = useCallback(
    (action: Action) => {
      act(action);
      if (action.type === 'place') placed(action.layout);
    },
    [placed],
  );
  const check = useCheck(id, doc.definition);
  const info = useQuery(infoQuery);
  const [open, setOpen] = useState<Open>(null);
  const [view, setView] = useState<View>('graph');
  const [outline, setOutline] = useLocalStorage({ key: 'taskloom.builder.outline', defaultValue: true });
  const panel = useRef<HTMLDivElement>(null);

  const focusPart = useCallback((part: string) => {
    setView('edit');
    requestAnimationFrame(() => focusPartIn(() => panel.current, part));
  }, []);
  const edit = useCallback(
    (change: (d: Definition) => Definition, tag?: string, select?: Partial<Selection>) =>
      dispatch({
        type: 'edit',
        tag,
        select,
        change: (d) => {
          const definition = change(d.definition);
          return definition === d.definition ? d : { ...d, definition };
        },
      }),
    [dispatch],
  );
  const jump = (p: DefinitionProblem) => {
    setOpen(null);
    const at = placeOf(p.path ?? '');
    const node = at.node === undefined ? undefined : doc.definition.nodes[at.node];
    if (node) dispatch({ type: 'select', selection: { nodes: [node.key], field: at.field ?? null } });
    else dispatch({ type: 'select', selection: at.edge === undefined ? {} : { edge: at.edge } });
    focusPart(at.part || (node ? 'title' : at.edge === undefined ? 'name' : 'when'));
  };

  const published = useMemo(() => {
    const live = polled.version > 0 ? normalize(polled.live) : null;
    return new Map(live?.nodes.flatMap((n) => (n.fields ?? []).map((f) => [f.name, f.type] as const)));
  }, [polled.live, polled.version]);
  const value: BuilderValue = useMemo(
    () => ({
      id,
      projectId: polled.project_id,
      doc,
      selection,
      history,
      dispatch,
      edit,
      problems: check.problems,
      published,
      models: info.data?.llm_models ?? [],
      llm: info.data ? info.data.llm : null,
      focusPart,
    }),
    [id, polled.project_id, doc, selection, history, dispatch, edit, check.problems, published, info.data, focusPart],
  );

  useBlocker({
    enableBeforeUnload: () => draft.unsaved,
    shouldBlockFn: async () => {
      if (!draft.unsaved || (await draft.flush())) return false;
      return !(await confirm({
        title: 'Leave without saving?',
        body: 'The server does not have your last changes. They are kept in this browser and come back when you open the builder here again.',
        confirmLabel: 'Leave',
        cancelLabel: 'Stay',
      }));
    },
  });
  const latest = useRef(selection);
  latest.current = selection;
  /** To the selected node. What is being typed counts first: it may give the node another key. */
  const toGraph = () => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    setView('graph');
    setTimeout(() => focusNode(latest.current.nodes[0] ?? doc.definition.nodes[0]?.key ?? ''));
  };
  const group = 'Builder';
  const inOwn = (e: KeyboardEvent) => e.target instanceof Element && e.target.closest('[data-own-undo]') !== null;
  useHotkeys([
    {
      keys: 'mod+z',
      label: 'Undo',
      group,
      allowInInput: true,
      repeat: true,
      run: (e) => (inOwn(e) ? false : dispatch({ type: 'undo' })),
    },
    {
      keys: 'mod+shift+z',
      label: 'Redo',
      group,
      allowInInput: true,
      repeat: true,
      run: (e) => (inOwn(e) ? false : dispatch({ type: 'redo' })),
    },
    {
      keys: 'mod+y',
      label: 'Redo',
      group,
      allowInInput: true,
      repeat: true,
      hidden: true,
      run: (e) => (inOwn(e) ? false : dispatch({ type: 'redo' })),
    },
    { keys: 'mod+s', label: 'Save now', group, allowInInput: true, run: () => void draft.flush() },
    { keys: 'm', label: 'To the graph', group, run: toGraph },
    { keys: 'k', label: 'Checklist', group, run: () => setOpen('check') },
    { keys: 'p', label: 'Preview', group, run: () => setOpen('preview') },
    { keys: 'mod+Enter', label: 'Publish', group, allowInInput: true, run: () => setOpen('publish') },
    {
      keys: 'o',
      label: 'Outline',
      group,
      run: () => {
        setOutline(true);
        setView('steps');
        requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-outline-pane] [aria-current]')?.focus());
      },
    },
    {
      keys: 'Escape',
      label: 'From the panel back to the graph',
      group,
      allowInInput: true,
      run: (e) => {
        if (!(e.target instanceof Element) || !panel.current?.contains(e.target)) return false;
        if (e.target.getAttribute('aria-expanded') === 'true') return false;
        const key = selection.nodes[0];
        if (selection.field !== null && key) {
          dispatch({ type: 'select', selection: { nodes: [key] } });
          focusPart(`fields[${selection.field}]`);
        } else {
          toGraph();
        }
        return true;
      },
    },
  ]);

  return (
    <BuilderProvider value={value}>
      <PipelineFrame
        pipelineId={id}
        tab="build"
        actions={
          <Toolbar
            draft={draft}
            onCheck={() => setOpen('check')}
            onPreview={() => setOpen('preview')}
            onPublish={() => setOpen('publish')}
            onYaml={() => setOpen('yaml')}
          />
        }
      >
        <Stack gap="xs">
          {draft.theirs && (
            <Conflict
              theirs={draft.theirs}
              base={draft.base}
              mine={doc}
              me={me.name}
              onTake={() => {
                const { theirs } = draft;
                if (!theirs) return;
                dispatch({ type: 'edit', change: () => theirs.doc });
                draft.takeTheirs();
              }}
              onKeep={draft.keepMine}
            />
          )}
          {draft.error !== null && (
            <ErrorNote error={draft.error} doing="save the draft" retry={() => void draft.flush()} />
          )}
          <LiveNote polled={polled} />
          <SegmentedControl
            className={classes.views}
            fullWidth
            aria-label="What to show"
            value={view}
            onChange={(v) => setView(v as View)}
            data={[
              { value: 'graph', label: 'Graph' },
              { value: 'steps', label: 'Steps' },
              { value: 'edit', label: 'Edit' },
            ]}
          />
          <div className={classes.frame} data-view={view} data-outline={outline || undefined}>
            <Workspace panel={panel} outline={outline} onOutline={setOutline} onView={setView} />
          </div>
        </Stack>
      </PipelineFrame>
      <Modal opened={open === 'check'} onClose={() => setOpen(null)} title="Checklist" size="lg">
        <Stack>
          <Checklist {...check} onJump={jump} />
          {check.problems.length === 0 && <Button onClick={() => setOpen('publish')}>Publish…</Button>}
        </Stack>
      </Modal>
      <PublishDialog
        opened={open === 'publish'}
        onClose={() => setOpen(null)}
        draft={polled}
        flush={draft.flush}
        check={check}
        onJump={jump}
      />
      <YamlDialog
        opened={open === 'yaml'}
        onClose={() => setOpen(null)}
        flush={draft.flush}
        onApply={(definition) => edit(() => definition)}
      />
      {open === 'preview' && (
        <Suspense>
          <Preview
            definition={doc.definition}
            start={selection.nodes[0] ?? null}
            opened
            onClose={() => setOpen(null)}
          />
        </Suspense>
      )}
    </BuilderProvider>
  );
}
