import { Anchor, Button, Code, CopyButton, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Definition } from '@/pipeline/definition';
import { createSnippet, seedFields } from './snippet';

interface Props {
  pipelineId: number;
  /** The live definition. */
  definition: Definition;
  /** Where keys are made, when the caller may. */
  keysOf?: number;
}

/** How tasks come into this pipeline: one request to copy, with its own fields. */
export function CreateTasksHelp({ pipelineId, definition, keysOf }: Props) {
  const fields = seedFields(definition);
  const snippet = createSnippet(window.location.origin, pipelineId, fields);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="create-tasks">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4" id="create-tasks">
            Create tasks
          </Title>
          <CopyButton value={snippet}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" onClick={copy}>
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
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {snippet}
        </Code>
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
          Many files or rows at once go in as a ZIP: see the{' '}
          <Anchor href="/api/v1/docs" target="_blank" inherit underline="always">
            API documentation
          </Anchor>
          ; its progress shows under Uploads.
        </Text>
      </Stack>
    </Paper>
  );
}
