import { Anchor, Button, Code, Group, List, Pagination, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ItemError, UploadDetail } from '@/api';
import { toCSV } from '@/lib/csv';
import { download } from '@/lib/download';
import { ErrorNote } from '@/ui/ErrorNote';
import { place } from './progress';
import { uploadQuery } from './queries';

const pageSize = 25;

/** What became of the rows of one upload. */
export function UploadRows({ pipelineId, uploadId }: { pipelineId: number; uploadId: string }) {
  const detail = useQuery(uploadQuery(pipelineId, uploadId));
  const d = detail.data; // which stays when a later look fails
  if (!d && detail.error)
    return <ErrorNote error={detail.error} retry={() => detail.refetch()} doing="load the rows" />;
  if (!d) return <Skeleton h={120} mt="sm" />;
  return (
    <Stack gap="md" mt="md">
      {d.errors.length > 0 ? <Errors upload={d} /> : <Text size="sm">No row was refused.</Text>}
      {d.skipped.length > 0 && (
        <section>
          <Title order={3} size="h6" mb={4}>
            Files that belong to no task
          </Title>
          <List size="sm" spacing={2}>
            {d.skipped.map((s) => (
              <List.Item key={s.entry}>
                <Code>{s.entry}</Code> {s.reason}
              </List.Item>
            ))}
          </List>
          {d.skipped_count > d.skipped.length && (
            <Text size="xs" c="dimmed">
              The first {d.skipped.length} of {d.skipped_count.toLocaleString('en')}.
            </Text>
          )}
        </section>
      )}
      <Created pipelineId={pipelineId} ids={d.task_ids} count={d.success_count} />
    </Stack>
  );
}

function Errors({ upload }: { upload: UploadDetail }) {
  const [page, setPage] = useState(1);
  const pages = Math.ceil(upload.errors.length / pageSize);
  const from = (Math.min(page, pages) - 1) * pageSize;
  const shown = upload.errors.slice(from, from + pageSize);
  return (
    <section aria-label="Refused rows">
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h6">
          Refused rows
        </Title>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() =>
            download(`upload-${upload.upload_id}-errors.csv`, errorsCSV(upload.errors), 'text/csv;charset=utf-8')
          }
        >
          Download as CSV
        </Button>
      </Group>
      <Table.ScrollContainer
        minWidth={480}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Refused rows' } }}
      >
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={80}>Row</Table.Th>
              <Table.Th w={180}>Field</Table.Th>
              <Table.Th>What is wrong</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((e) => (
              <Table.Tr key={`${e.index}/${e.field_name}/${e.message}`}>
                <Table.Td>{e.index}</Table.Td>
                <Table.Td>{e.field_name ? <Code>{e.field_name}</Code> : 'the whole row'}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{e.message}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="space-between" mt={6}>
        <Text size="xs" c="dimmed">
          {place(upload, from + 1, from + shown.length)} Rows count from 0.
        </Text>
        {pages > 1 && (
          <Pagination
            size="sm"
            total={pages}
            value={Math.min(page, pages)}
            onChange={setPage}
            getControlProps={(control) => ({ 'aria-label': `${control} page` })}
            getItemProps={(n) => ({ 'aria-label': `Page ${n}` })}
          />
        )}
      </Group>
    </section>
  );
}

/** The refused rows for a spreadsheet. */
export function errorsCSV(errors: readonly ItemError[]): string {
  return toCSV(
    ['row', 'field', 'message'],
    errors.map((e) => [e.index, e.field_name, e.message]),
  );
}

const idsShown = 50;

/** The ids are the first of as many as count says. */
function Created({ pipelineId, ids, count }: { pipelineId: number; ids: number[]; count: number }) {
  if (ids.length === 0) return null;
  const more = count - Math.min(ids.length, idsShown);
  return (
    <section>
      <Title order={3} size="h6" mb={4}>
        Tasks created
      </Title>
      <Group gap={8}>
        {ids.slice(0, idsShown).map((id) => (
          <Anchor key={id} component={Link} to={`/tasks/${id}`} size="sm">
            {id}
          </Anchor>
        ))}
        {more > 0 && (
          <Anchor component={Link} to={`/pipelines/${pipelineId}/tasks`} size="sm">
            and {more.toLocaleString('en')} more
          </Anchor>
        )}
      </Group>
    </section>
  );
}
