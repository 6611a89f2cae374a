import {
  ActionIcon,
  Anchor,
  Code,
  CopyButton,
  Group,
  NumberInput,
  Paper,
  Stack,
  Table,
  Text,
  Tooltip,
} from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { asAPIError, type TaskDetail } from '@/api';
import { Ago } from '@/ui/Ago';
import { setPriority } from './actions';

/** Ids, numbers and moments of a task. */
export function TaskFacts({ task: t }: { task: TaskDetail }) {
  const rows: [string, ReactNode][] = [
    ['Task', <Copyable key="id" value={String(t.id)} what="task id" />],
    [
      'Pipeline',
      <Anchor key="pipeline" component={Link} to={`/pipelines/${t.pipeline_id}`} inherit>
        {t.pipeline_name}
      </Anchor>,
    ],
    ['Version', t.version],
    ['Priority', <Priority key={`priority ${t.priority}`} task={t} />],
    ['Created', <Ago key="created" at={t.created_at} />],
    ['Changed', <Ago key="changed" at={t.updated_at} />],
    [
      'Run',
      <Stack key="run" gap={2}>
        <Copyable value={t.run.workflow_id} what="run id" />
        {t.run.url && (
          <Anchor href={t.run.url} target="_blank" rel="noreferrer" inherit data-noprint>
            Open in Temporal <IconExternalLink size={12} aria-label="in a new tab" />
          </Anchor>
        )}
      </Stack>,
    ],
  ];
  return (
    <Paper withBorder p="xs">
      <Table withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {rows.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" w={90} fw={400} c="dimmed" style={{ verticalAlign: 'top' }}>
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

function Copyable({ value, what }: { value: string; what: string }) {
  return (
    <Group gap={4}>
      <Code>{value}</Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy the ${what}`}>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              onClick={copy}
              aria-label={copied ? 'Copied' : `Copy the ${what}`}
              data-noprint
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}

function Priority({ task: t }: { task: TaskDetail }) {
  const [value, setValue] = useState<number | string>(t.priority);
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: async (priority: number) => {
      const out = await setPriority({ pipelineId: t.pipeline_id, taskId: t.id }, priority);
      if (out.failed[0]) throw new Error(out.failed[0].message);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['getTaskDetail', t.id] }),
  });
  useEffect(() => setValue(t.priority), [t.priority]);
  if (t.status === 'finished' || t.status === 'failed') return t.priority;
  const apply = () => {
    if (typeof value === 'number' && value !== t.priority) save.mutate(value);
  };
  return (
    <div>
      <NumberInput
        aria-label="Priority"
        size="xs"
        w={90}
        min={-100}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        value={value}
        onChange={setValue}
        onBlur={apply}
        onKeyDown={(e) => e.key === 'Enter' && apply()}
        disabled={save.isPending}
        error={save.isError ? asAPIError(save.error).message : undefined}
      />
      <Text size="xs" c="dimmed">
        lower goes first
      </Text>
    </div>
  );
}
