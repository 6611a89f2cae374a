import { Alert, Anchor, Group, List, Loader, Stack, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { type Definition, labelOf } from '@/pipeline/definition';
import { grouped } from '@/pipeline/grouped';
import { type DefinitionProblem, placeOf } from '@/pipeline/problems';
import { ErrorNote } from '@/ui/ErrorNote';
import { useBuilder } from '../state/context';

interface Props {
  checking: boolean;
  error: unknown;
  recheck: () => void;
  /** Goes to the place: its step, its field, its control. */
  onJump: (problem: DefinitionProblem) => void;
}

/** Everything that keeps the draft from being published, by step; each entry leads to its place. */
export function Checklist({ checking, error, recheck, onJump }: Props) {
  const { doc, problems } = useBuilder();
  if (error) return <ErrorNote error={error} doing="check the draft" retry={recheck} />;
  if (problems.length === 0) {
    return (
      <Alert color="teal" variant="light" icon={<IconCircleCheck />}>
        {checking ? 'Checking…' : 'Nothing keeps this draft from being published.'}
      </Alert>
    );
  }
  const groups = grouped(problems, (p) => titleOf(doc.definition, p));
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text size="sm">
          {problems.length} {problems.length === 1 ? 'problem keeps' : 'problems keep'} this draft from being published.
        </Text>
        {checking && <Loader size="xs" aria-label="Checking" />}
      </Group>
      {groups.map(([title, list]) => (
        <Stack key={title} gap={4} component="section" aria-label={title}>
          <Text fw={600} size="sm">
            {title}
          </Text>
          <List size="sm" spacing={4}>
            {list.map((p) => (
              <List.Item key={`${p.path} ${p.message}`}>
                <Anchor component="button" type="button" size="sm" ta="start" onClick={() => onJump(p)}>
                  {p.field ? `${p.field}: ` : ''}
                  {p.message}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </Stack>
      ))}
    </Stack>
  );
}

function titleOf(d: Definition, p: DefinitionProblem): string {
  const at = placeOf(p.path ?? '');
  const node = at.node === undefined ? undefined : d.nodes[at.node];
  if (node) return labelOf(node);
  const edge = at.edge === undefined ? undefined : d.edges[at.edge];
  if (!edge) return 'Pipeline';
  const name = (key: string) => labelOf(d.nodes.find((n) => n.key === key) ?? { key });
  return `${name(edge.from)} → ${name(edge.to)}`;
}
