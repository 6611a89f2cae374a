import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Pipeline } from '@/api';
import { useMe } from '@/features/session/me';
import type { Definition } from '@/pipeline/definition';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { CountTiles } from './CountTiles';
import { CreateTasksHelp } from './CreateTasksHelp';
import { useLifecycle } from './LifecycleMenu';
import { PipelineFacts } from './PipelineFacts';
import { PipelineFrame } from './PipelineFrame';
import { PipelineMenu } from './PipelineMenu';
import { countsQuery, pipelineQuery } from './queries';

const route = getRouteApi('/shell/pipelines/$pipelineId');

export default function PipelinePage() {
  const pipelineId = Number(route.useParams().pipelineId);
  const { pipeline, isAdminOf, isOrgAdmin } = useMe();
  const found = pipeline(pipelineId);
  const admin = isAdminOf(found?.project.id);
  const counts = useQuery(countsQuery(pipelineId));
  const detail = useQuery({ ...pipelineQuery(pipelineId), enabled: admin });
  const d = detail.data;
  const orgId = found?.project.org_id;
  return (
    <PipelineFrame pipelineId={pipelineId} tab="overview" actions={d && <PipelineMenu pipeline={d} />}>
      <Stack gap="lg">
        {counts.isError && <ErrorNote error={counts.error} retry={() => counts.refetch()} doing="load the counts" />}
        {d && <Notice pipeline={d} />}
        {counts.isPending && <Skeleton h={110} radius="md" />}
        {counts.data && (!d || d.version > 0) && (
          <CountTiles pipelineId={pipelineId} counts={counts.data} linked={admin} />
        )}
        {!admin && (
          <Group>
            <Button component={Link} to={`/pipelines/${pipelineId}/work`} leftSection={<IconPlayerPlay size={16} />}>
              Go to work
            </Button>
          </Group>
        )}
        {detail.isError && <ErrorNote error={detail.error} retry={() => detail.refetch()} doing="load the pipeline" />}
        {d && <PipelineFacts pipeline={d} />}
        {d?.live ? (
          <CreateTasksHelp
            pipelineId={pipelineId}
            version={d.version}
            definition={d.live as Definition}
            keysOf={isOrgAdmin(orgId) ? orgId : undefined}
          />
        ) : null}
        {d && !d.live && d.status === 'DRAFT' && (
          <EmptyState
            title="Not published yet"
            action={
              <Button component={Link} to={`/pipelines/${pipelineId}/build`} leftSection={<IconPencil size={16} />}>
                Open the builder
              </Button>
            }
          >
            Tasks can be created and worked on once its first version is published.
          </EmptyState>
        )}
      </Stack>
    </PipelineFrame>
  );
}

/** What an admin ought to know about the status, with the way out. */
function Notice({ pipeline }: { pipeline: Pick<Pipeline, 'id' | 'name' | 'status'> }) {
  const { run, busy } = useLifecycle(pipeline);
  const says: Partial<Record<Pipeline['status'], [string, 'resume' | 'reopen' | 'unarchive', string]>> = {
    PAUSED: ['Paused: nobody can claim work. New tasks can be created; they wait.', 'resume', 'Resume'],
    COMPLETED: ['Completed: no new tasks, and nothing can be claimed.', 'reopen', 'Reopen'],
    ARCHIVED: ['Archived: it is hidden from everybody else.', 'unarchive', 'Take out of the archive'],
  };
  const say = says[pipeline.status];
  if (!say) return null;
  const [text, verb, label] = say;
  return (
    <Alert color="yellow" variant="light" aria-label="Status">
      <Group justify="space-between">
        <Text size="sm">{text}</Text>
        <Button size="xs" variant="default" loading={busy} onClick={() => run(verb)}>
          {label}…
        </Button>
      </Group>
    </Alert>
  );
}
