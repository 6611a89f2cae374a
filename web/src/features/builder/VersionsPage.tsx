import { Alert, Button, Group, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { body, restoreVersion } from '@/api';
import { live } from '@/app/query';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { useMe } from '@/features/session/me';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { Ago } from '@/ui/Ago';
import { confirm } from '@/ui/ConfirmDialog';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { notify } from '@/ui/notify';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { DotBadge } from './DotBadge';
import { DiffView, useChanges } from './publish/DiffView';
import { type Draft, draftQuery, versionQuery, versionsQuery } from './queries';

/** The draft, as one of the things that can be compared. */
const theDraft = 'draft';

export default function VersionsPage() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId/versions' });
  const id = Number(pipelineId);
  const { pipeline, isAdminOf } = useMe();
  const found = pipeline(id);
  const allowed = !found || isAdminOf(found.project.id);
  const versions = useQuery({ ...versionsQuery(id), refetchInterval: live * 3, enabled: allowed });
  const draft = useQuery({ ...draftQuery(id), enabled: allowed });
  if (!allowed) return <AdminsOnly title={found?.name ?? 'Versions'} of={found?.project.name ?? 'the project'} />;
  const error = versions.error ?? draft.error;
  return (
    <PipelineFrame
      pipelineId={id}
      tab="build"
      actions={
        <Button component={Link} to={`/pipelines/${id}/build`} variant="default">
          Back to the builder
        </Button>
      }
    >
      {versions.data && draft.data ? (
        versions.data.versions.length === 0 ? (
          <EmptyState
            title="No version yet"
            action={
              <Button component={Link} to={`/pipelines/${id}/build`}>
                Open the builder
              </Button>
            }
          >
            Publishing the draft makes the first version. Each task keeps the version that it was created with.
          </EmptyState>
        ) : (
          <Versions id={id} versions={versions.data.versions} draft={draft.data} />
        )
      ) : error ? (
        <ErrorNote error={error} retry={() => void Promise.all([versions.refetch(), draft.refetch()])} />
      ) : (
        <RowsSkeleton />
      )}
    </PipelineFrame>
  );
}

type VersionRow = Awaited<ReturnType<NonNullable<ReturnType<typeof versionsQuery>['queryFn']>>>['versions'][number];

function Versions({ id, versions, draft }: { id: number; versions: VersionRow[]; draft: Draft }) {
  const newest = String(draft.version || versions[0]?.number || 0);
  const [pair, setPair] = useState<[string, string]>([newest, theDraft]);
  return (
    <Stack gap="lg">
      <Table.ScrollContainer
        minWidth={620}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Versions' } }}
      >
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th>What is new</Table.Th>
              <Table.Th>Published</Table.Th>
              <Table.Th ta="end">Open tasks</Table.Th>
              <Table.Th>
                <Text span fz={0}>
                  Actions
                </Text>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map((v) => (
              <Row
                key={v.number}
                v={v}
                id={id}
                draft={draft}
                onCompare={(to) => setPair(to)}
                previous={versions.find((x) => x.number < v.number)?.number}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Compare id={id} versions={versions} draft={draft} pair={pair} onPair={setPair} />
    </Stack>
  );
}

interface RowProps {
  v: VersionRow;
  id: number;
  draft: Draft;
  previous: number | undefined;
  onCompare: (pair: [string, string]) => void;
}

function Row({ v, id, draft, previous, onCompare }: RowProps) {
  const version = useQuery({ ...versionQuery(id, v.number), enabled: v.live });
  const changes = useChanges(version.data?.definition, draft.draft);
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          {v.number}
          {v.live && <DotBadge color="teal">live</DotBadge>}
        </Group>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
        {v.note || <Text c="dimmed">No note</Text>}
      </Table.Td>
      <Table.Td>
        <Ago at={v.created_at} /> {v.published_by ? `by ${v.published_by.name}` : 'from the command line'}
      </Table.Td>
      <Table.Td ta="end">{v.open_tasks.toLocaleString('en')}</Table.Td>
      <Table.Td>
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {previous !== undefined && (
            <Button
              size="compact-sm"
              variant="subtle"
              onClick={() => onCompare([String(previous), String(v.number)])}
              aria-label={`What version ${v.number} changed`}
            >
              Changes
            </Button>
          )}
          <Restore id={id} v={v} draft={draft} disabled={v.live && version.data !== undefined && changes === 0} />
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

interface RestoreProps {
  id: number;
  v: Pick<VersionRow, 'number'>;
  draft: Pick<Draft, 'revision'>;
  disabled: boolean;
}

export function Restore({ id, v, draft, disabled }: RestoreProps) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const restore = useMutation({
    mutationFn: (revision: number) =>
      body(restoreVersion({ path: { pipeline_id: id, number: v.number }, body: { revision } })),
    onSuccess: async () => {
      notify.done(`The draft is version ${v.number} again. Nothing changes for tasks before you publish it.`);
      await cache.invalidateQueries({ queryKey: ['getPipeline', id] });
      await navigate({ to: '/pipelines/$pipelineId/build', params: { pipelineId: String(id) } });
    },
    onError: (err) => notify.failed('restore the version', err),
  });
  const ask = async () => {
    const { revision } = draft; // that the question is about, not one that is saved while it stands
    const yes = await confirm({
      title: `Restore version ${v.number} into the draft?`,
      body: 'The draft as it is now is replaced. What is published stays as it is until you publish the draft.',
      confirmLabel: 'Restore',
    });
    if (yes) restore.mutate(revision);
  };
  return (
    <Button
      size="compact-sm"
      variant="default"
      disabled={disabled}
      loading={restore.isPending}
      onClick={() => void ask()}
      aria-label={`Restore version ${v.number} into the draft`}
    >
      Restore
    </Button>
  );
}

interface CompareProps {
  id: number;
  versions: VersionRow[];
  draft: Draft;
  pair: [string, string];
  onPair: (pair: [string, string]) => void;
}

function Compare({ id, versions, draft, pair: [from, to], onPair }: CompareProps) {
  const data = [
    { value: theDraft, label: 'Draft' },
    ...versions.map((v) => ({ value: String(v.number), label: `Version ${v.number}${v.live ? ' (live)' : ''}` })),
  ];
  const a = useDefinition(id, from, draft);
  const b = useDefinition(id, to, draft);
  const error = a.error ?? b.error;
  return (
    <Stack component="section" aria-label="Compare">
      <Group align="flex-end">
        <Title order={2} size="h4">
          Compare
        </Title>
        <Select
          label="From"
          w={170}
          allowDeselect={false}
          data={data}
          value={from}
          onChange={(v) => v && onPair([v, to])}
        />
        <Select
          label="To"
          w={170}
          allowDeselect={false}
          data={data}
          value={to}
          onChange={(v) => v && onPair([from, v])}
        />
      </Group>
      {error ? (
        <ErrorNote error={error} doing="read the versions" />
      ) : a.definition === undefined || b.definition === undefined ? (
        <RowsSkeleton rows={3} />
      ) : from === to ? (
        <Alert variant="light">Choose two different ones.</Alert>
      ) : (
        <DiffView before={a.definition} after={b.definition} none="Both are the same." />
      )}
    </Stack>
  );
}

function useDefinition(id: number, which: string, draft: Draft): { definition: unknown; error: unknown } {
  const query = useQuery({ ...versionQuery(id, Number(which)), enabled: which !== theDraft });
  return which === theDraft
    ? { definition: draft.draft, error: null }
    : { definition: query.data?.definition, error: query.error };
}
