import { Alert, Button, Group, Kbd, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconCopy, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense, useEffect } from 'react';
import { chunk } from '@/lib/chunk';
import { labelOf, type PipelineNode } from '@/pipeline/definition';
import { placeOf, problemsAt } from '@/pipeline/problems';
import { kindLabels } from '../canvas/StepNode';
import type { CanvasActions } from '../canvas/useCanvasKeys';
import { PartProblems, useBuilder } from '../state/context';
import { PipelinePanel } from './PipelinePanel';
import { ProblemList } from './ProblemList';
import { EndsPanel, ReviewPanel } from './ReviewPanel';
import { SubtaskPanel } from './SubtaskPanel';

// The largest panels come with the first look, or when the browser has nothing else to do.
const loadField = chunk(() => import('./FieldPanel'));
const loadEdge = chunk(() => import('./EdgePanel'));
const FieldPanel = lazy(() => loadField().then((m) => ({ default: m.FieldPanel })));
const EdgePanel = lazy(() => loadEdge().then((m) => ({ default: m.EdgePanel })));

/** The panel of what is selected; of the pipeline when nothing is. */
export function Inspector({ actions }: { actions: CanvasActions }) {
  const { doc, selection, problems } = useBuilder();
  const d = doc.definition;
  const node = selection.nodes.length === 1 ? d.nodes.find((n) => n.key === selection.nodes[0]) : undefined;
  useEffect(() => {
    const timer = setTimeout(() => void Promise.all([loadField(), loadEdge()]).catch(() => {}), 1500);
    return () => clearTimeout(timer);
  }, []);
  if (selection.edge !== null) {
    return (
      <Suspense fallback={<Skeleton h={200} />}>
        <EdgePanel key={selection.edge} index={selection.edge} />
      </Suspense>
    );
  }
  if (selection.nodes.length > 1) return <Several actions={actions} />;
  if (!node) {
    const whole = problems.flatMap((p) => {
      const at = placeOf(p.path ?? '');
      return at.node === undefined && at.edge === undefined ? [{ part: at.part, message: p.message }] : [];
    });
    return (
      <PartProblems found={whole}>
        <Stack>
          <Title order={2} size="h5">
            Pipeline
          </Title>
          <ProblemList found={whole} />
          <PipelinePanel />
        </Stack>
      </PartProblems>
    );
  }
  return <NodePanel key={d.nodes.indexOf(node)} node={node} actions={actions} />;
}

function NodePanel({ node, actions }: { node: PipelineNode; actions: CanvasActions }) {
  const { doc, selection, problems } = useBuilder();
  const at = doc.definition.nodes.indexOf(node);
  const field = selection.field ?? undefined;
  const found = problemsAt(problems, at, field);
  const panel =
    field !== undefined ? (
      <Suspense fallback={<Skeleton h={400} />}>
        <FieldPanel key={field} node={node} index={field} />
      </Suspense>
    ) : node.kind === 'subtask' ? (
      <SubtaskPanel node={node} />
    ) : node.kind === 'review' ? (
      <ReviewPanel node={node} />
    ) : (
      <EndsPanel node={node} />
    );
  return (
    <PartProblems found={found}>
      <Stack>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
            {field !== undefined
              ? `Field: ${labelOf(node.fields?.[field] ?? {})}`
              : (kindLabels[node.kind] ?? node.kind)}
          </Title>
          {field === undefined && <NodeActions node={node} actions={actions} />}
        </Group>
        {field === undefined && !['start', 'subtask', 'review', 'end'].includes(node.kind) && (
          <Alert color="red" variant="light">
            “{node.kind}” is no kind of step that this app knows.
          </Alert>
        )}
        <ProblemList found={found} />
        {panel}
      </Stack>
    </PartProblems>
  );
}

function NodeActions({ node, actions }: { node: PipelineNode; actions: CanvasActions }) {
  const ends = node.kind === 'start' || node.kind === 'end';
  return (
    <Group gap={4} wrap="nowrap">
      {!ends && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={<IconCopy size={14} />}
          onClick={actions.duplicate}
        >
          Duplicate
        </Button>
      )}
      <Button
        variant="subtle"
        color="red"
        size="compact-xs"
        leftSection={<IconTrash size={14} />}
        onClick={actions.remove}
      >
        Delete
      </Button>
    </Group>
  );
}

function Several({ actions }: { actions: CanvasActions }) {
  const { selection } = useBuilder();
  return (
    <Stack>
      <Title order={2} size="h5">
        {selection.nodes.length} steps selected
      </Title>
      <Text size="sm" c="dimmed">
        Copy them with <Kbd>Ctrl</Kbd> <Kbd>C</Kbd>, also into another pipeline.
      </Text>
      <Group>
        <Button variant="default" leftSection={<IconCopy size={16} />} onClick={actions.duplicate}>
          Duplicate
        </Button>
        <Button variant="light" color="red" leftSection={<IconTrash size={16} />} onClick={actions.remove}>
          Delete
        </Button>
      </Group>
    </Stack>
  );
}
