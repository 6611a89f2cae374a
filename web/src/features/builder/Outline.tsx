import { Badge, NavLink, Stack, Text } from '@mantine/core';
import { IconSettings } from '@tabler/icons-react';
import { useMemo } from 'react';
import { labelOf } from '@/pipeline/definition';
import { inOrder } from '@/pipeline/graph';
import { countByNode } from '@/pipeline/problems';
import classes from './builder.module.css';
import { KindIcon } from './canvas/StepNode';
import { useBuilder } from './state/context';

interface Props {
  /** Shows the panel of what was chosen, on narrow screens too. */
  onOpen: () => void;
}

/** The pipeline as a list from start to end, with what leads where: the same as the graph, for who reads or tabs. */
export function Outline({ onOpen }: Props) {
  const { doc, selection, problems, dispatch } = useBuilder();
  const d = doc.definition;
  const counts = useMemo(() => countByNode(d, problems), [d, problems]);
  const none = selection.nodes.length === 0 && selection.edge === null;
  const next = (key: string) =>
    d.edges
      .filter((e) => e.from === key)
      .map((e) => labelOf(d.nodes.find((n) => n.key === e.to) ?? { key: e.to }))
      .join(', ');
  return (
    <Stack gap={2} component="nav" aria-label="Steps of the pipeline">
      <NavLink
        component="button"
        className={classes.entry}
        active={none}
        aria-current={none || undefined}
        label="Pipeline"
        description="Name, description, runs"
        leftSection={<IconSettings size={18} aria-hidden="true" />}
        onClick={() => {
          dispatch({ type: 'select', selection: {} });
          onOpen();
        }}
      />
      {inOrder(d).map((n) => (
        <NavLink
          key={n.key}
          component="button"
          className={classes.entry}
          active={selection.nodes.includes(n.key)}
          aria-current={selection.nodes.includes(n.key) || undefined}
          label={labelOf(n)}
          description={next(n.key) ? `then ${next(n.key)}` : undefined}
          leftSection={<KindIcon kind={n.kind} size={22} />}
          rightSection={
            counts.get(n.key) ? (
              <Badge color="red" variant="filled" size="sm" circle aria-label={`${counts.get(n.key)} problems`}>
                {counts.get(n.key)}
              </Badge>
            ) : undefined
          }
          onClick={() => {
            dispatch({ type: 'select', selection: { nodes: [n.key] } });
            onOpen();
          }}
        />
      ))}
      {d.nodes.length === 0 && (
        <Text size="sm" c="dimmed">
          No steps yet.
        </Text>
      )}
    </Stack>
  );
}
