import { ActionIcon, Anchor, Group, Select, Stack, Text, Tooltip } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { inWords } from '@/pipeline/conditions';
import { labelOf, type PipelineNode } from '@/pipeline/definition';
import { connect, removeEdge } from '@/pipeline/edit';
import { mayConnect } from '@/pipeline/graph';
import { useBuilder } from '../state/context';
import { Section } from './controls';

/** The edges out of a node: follow one to its condition, remove it, add another. */
export function NextSteps({ node }: { node: PipelineNode }) {
  const { doc, edit, dispatch } = useBuilder();
  const d = doc.definition;
  const name = (key: string) => labelOf(d.nodes.find((n) => n.key === key) ?? { key });
  const out = d.edges.flatMap((e, index) => (e.from === node.key ? [{ e, index }] : []));
  const open = d.nodes.filter((n) => mayConnect(d, node.key, n.key) === null);
  if (node.kind === 'end') return null;
  return (
    <Section title="What comes next">
      <Stack gap={4}>
        {out.map(({ e, index }) => (
          <Group key={e.to} gap="xs" wrap="nowrap" justify="space-between">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => dispatch({ type: 'select', selection: { edge: index } })}
              >
                {name(e.to)}
              </Anchor>{' '}
              <Text span c="dimmed" size="sm">
                {e.when ? `when ${inWords(e.when)}` : out.length > 1 ? 'always' : ''}
              </Text>
            </Text>
            <Tooltip label="Remove the connection">
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={`Remove the connection to ${name(e.to)}`}
                onClick={() => edit((x) => removeEdge(x, index))}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Tooltip>
          </Group>
        ))}
      </Stack>
      {open.length > 0 && (
        <Select
          data-part="edges"
          aria-label="Connect to"
          placeholder="Connect to…"
          searchable
          data={open.map((n) => ({ value: n.key, label: labelOf(n) }))}
          value={null}
          onChange={(to) => to && edit((x) => connect(x, node.key, to))}
        />
      )}
    </Section>
  );
}
