import { Badge, Group, Paper, Text, ThemeIcon, Tooltip } from '@mantine/core';
import { IconChecklist, IconFlag, IconForms, IconPlayerPlay } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { type Kind, labelOf, type PipelineNode } from '@/pipeline/definition';
import classes from './canvas.module.css';

export type StepData = { node: PipelineNode; about: string; problems: number };
export type StepNodeType = Node<StepData, 'step'>;

export const kindLabels: Record<Kind, string> = { start: 'Start', subtask: 'Step', review: 'Review', end: 'End' };

const icons = { start: IconPlayerPlay, subtask: IconForms, review: IconChecklist, end: IconFlag };
const colors = { start: 'teal', subtask: 'cyan', review: 'violet', end: 'gray' };

export function KindIcon({ kind, size = 26 }: { kind: Kind; size?: number }) {
  const Icon = icons[kind] ?? IconForms;
  return (
    <ThemeIcon variant="light" color={colors[kind] ?? 'gray'} size={size} radius="sm" aria-hidden="true">
      <Icon size={size * 0.62} stroke={1.8} />
    </ThemeIcon>
  );
}

/** One line on what the node asks for; title is how the nodes are called. */
export function summary(n: PipelineNode, title: (key: string) => string): string {
  if (n.kind === 'start') return 'A task is created';
  if (n.kind === 'end') return 'The task is finished';
  if (n.kind === 'review') {
    const of = (n.reviews ?? []).map((t) => title(t.node)).join(', ');
    return of ? `Checks ${of}` : 'Checks nothing yet';
  }
  const fields = n.fields ?? [];
  const asked = fields.filter((f) => f.input === 'contributor').length;
  return `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, ${asked} to fill in`;
}

/** A node of the graph. Its name for screen readers is on the wrapper (Canvas). */
export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepNodeType>) {
  const { node, about, problems } = data;
  return (
    <Paper withBorder shadow="xs" className={classes.node} data-kind={node.kind} data-selected={selected || undefined}>
      {node.kind !== 'start' && <Handle type="target" position={Position.Top} className={classes.handle} />}
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <KindIcon kind={node.kind} />
        <div className={classes.text}>
          <Text fw={600} size="sm" lineClamp={2} lh={1.3}>
            {labelOf(node)}
          </Text>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {about}
          </Text>
        </div>
        {problems > 0 && (
          <Tooltip label={`${problems} ${problems === 1 ? 'problem' : 'problems'}`}>
            <Badge color="red" variant="filled" size="sm" circle>
              {problems}
            </Badge>
          </Tooltip>
        )}
      </Group>
      {node.kind !== 'end' && <Handle type="source" position={Position.Bottom} className={classes.handle} />}
    </Paper>
  );
});
