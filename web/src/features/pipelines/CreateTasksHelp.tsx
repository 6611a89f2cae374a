import { Anchor, Button, Code, CopyButton, Group, List, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Definition } from '@/pipeline/definition';
import { ErrorNote } from '@/ui/ErrorNote';
import { seedExampleQuery } from './queries';
import { createSnippet, withoutExample } from './snippet';

interface Props {
  pipelineId: number;
  /** The number of the live version. */
  version: number;
  /** Its definition. */
  definition: Definition;
  /** Where keys are made, when the caller may. */
  keysOf?: number;
}

/** How tasks come into this pipeline: what to send, ready to copy, with its own fields. */
export function CreateTasksHelp({ pipelineId, version, definition, keysOf }: Props) {
  const fields = definition.nodes.flatMap((n) => (n.fields ?? []).filter((f) => f.input === 'seeded'));
  const found = useQuery(seedExampleQuery(pipelineId, version));
  const example = found.data;
  const snippet = example && createSnippet(window.location.origin, pipelineId, example);
  const missing = example ? withoutExample(example) : [];
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="create-tasks">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4" id="create-tasks">
            Create tasks
          </Title>
          <CopyButton value={snippet ?? ''}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" disabled={!snippet} onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
        <Text size="sm">
          Send up to 5,000 tasks in one request. The key stands in the variable <Code>TASKLOOM_API_KEY</Code>
          {keysOf ? (
            <>
              ; make one under{' '}
              <Anchor component={Link} to={`/orgs/${keysOf}/keys`} inherit underline="always">
                API keys
              </Anchor>
              .
            </>
          ) : (
            '; an admin of the organization makes one.'
          )}
        </Text>
        {found.isError && <ErrorNote error={found.error} retry={() => found.refetch()} doing="load an example" />}
        {found.isPending && <Skeleton h={90} radius="md" />}
        {snippet && (
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {snippet}
          </Code>
        )}
        {missing.length > 0 && (
          <Text size="sm">
            Put a value of yours where it says null: the rules of <Code>{missing.join(', ')}</Code> leave no example.
          </Text>
        )}
        {fields.length > 0 ? (
          <List size="sm" spacing={2}>
            {fields.map((f) => (
              <List.Item key={f.name}>
                <Code>{f.name}</Code> {f.type.replaceAll('_', ' ')}
                {f.required ? ', required' : ''}
                {f.title ? `: ${f.title}` : ''}
              </List.Item>
            ))}
          </List>
        ) : (
          <Text size="sm" c="dimmed">
            This pipeline has no seeded fields: a task needs no data of its own.
          </Text>
        )}
        <Text size="sm" c="dimmed">
          See the{' '}
          <Anchor href="/api/v1/docs" target="_blank" inherit underline="always">
            API documentation
          </Anchor>
          {example?.upload ? '; the progress of an archive shows under Uploads.' : '.'}
        </Text>
      </Stack>
    </Paper>
  );
}
