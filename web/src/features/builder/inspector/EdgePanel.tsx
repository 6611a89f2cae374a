import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { labelOf } from '@/pipeline/definition';
import { removeEdge, setEdge } from '@/pipeline/edit';
import { knownToEdge } from '@/pipeline/graph';
import { problemsOfEdge } from '@/pipeline/problems';
import * as commands from '../state/commands';
import { PartProblems, useBuilder } from '../state/context';
import { ConditionEditor } from './ConditionEditor';
import { Section } from './controls';
import { ProblemList } from './ProblemList';

/** A connection: when it is taken. */
export function EdgePanel({ index }: { index: number }) {
  const { doc, edit, dispatch, problems } = useBuilder();
  const d = doc.definition;
  const e = d.edges[index];
  if (!e) return null;
  const end = (key: string) => (
    <Anchor component="button" type="button" onClick={() => dispatch({ type: 'select', selection: { nodes: [key] } })}>
      {labelOf(d.nodes.find((n) => n.key === key) ?? { key })}
    </Anchor>
  );
  const siblings = d.edges.filter((x) => x.from === e.from).length;
  const found = problemsOfEdge(problems, index);
  const insert = (kind: 'subtask' | 'review') => {
    const added = commands.addInto(doc, index, kind);
    dispatch({ type: 'edit', change: () => added.doc, select: { nodes: [added.key], edge: null } });
  };
  return (
    <PartProblems found={found}>
      <Stack gap="lg">
        <Title order={2} size="h5">
          Connection
        </Title>
        <Text>
          From {end(e.from)} to {end(e.to)}
        </Text>
        <ProblemList found={found} />
        <Section title="When it is taken">
          <ConditionEditor
            part="when"
            value={e.when}
            known={knownToEdge(d, e.from).map((p) => p.field)}
            onChange={(when, tag) => edit((x) => setEdge(x, index, { when }), tag && `${tag} edge ${index}`)}
            start="Take it only when…"
            none="Always: there is no field yet that it could depend on."
          />
          <Text size="xs" c="dimmed">
            {siblings > 1
              ? 'Every connection whose condition holds is taken, so that branches run side by side. A step that no taken connection reaches is not needed.'
              : 'This is the only way on. When its condition does not hold, the task waits for an admin.'}
          </Text>
        </Section>
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={() => insert('subtask')}>
            Insert a step
          </Button>
          <Button variant="default" size="compact-sm" onClick={() => insert('review')}>
            Insert a review
          </Button>
          <Button
            variant="light"
            color="red"
            size="compact-sm"
            leftSection={<IconTrash size={14} />}
            onClick={() => edit((x) => removeEdge(x, index), undefined, { nodes: [e.from], edge: null })}
          >
            Remove the connection
          </Button>
        </Group>
      </Stack>
    </PartProblems>
  );
}
