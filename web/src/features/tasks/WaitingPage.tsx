import { Anchor, Button, Group, Paper, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { WaitingNode } from '@/api';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { countsQuery } from '@/features/pipelines/queries';
import { Ago } from '@/ui/Ago';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { StatusBadge } from '@/ui/StatusBadge';
import { fail, resolutions } from './actions';
import { reasonText } from './journal';
import { waitingQuery } from './queries';
import { useAction } from './useAction';
import { useNames } from './useNames';

const route = getRouteApi('/shell/pipelines/$pipelineId/waiting');

/** The most that the server lists of what is asked for; the rest shows when these are resolved. */
const listLimit = 200;

export default function WaitingPage() {
  const pipelineId = Number(route.useParams().pipelineId);
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(waitingQuery(pipelineId, status));
  const counts = useQuery(countsQuery(pipelineId)).data;
  const names = useNames(pipelineId);
  const { ask, dialog } = useAction();
  const nodes = list.data?.nodes ?? [];
  const nothing = list.isSuccess && nodes.length === 0;
  return (
    <PipelineFrame pipelineId={pipelineId} tab="waiting">
      {dialog}
      <Stack gap="sm">
        {(status !== undefined || !nothing) && (
          <Group justify="space-between">
            <SegmentedControl
              aria-label="Which to show"
              value={status ?? 'all'}
              onChange={(v) =>
                void navigate({
                  search: v === 'escalated' || v === 'quarantined' ? { status: v } : {},
                  replace: true,
                  resetScroll: false,
                })
              }
              data={[
                { value: 'all', label: numbered('All', counts && counts.escalated + counts.quarantined) },
                { value: 'escalated', label: numbered('Escalated', counts?.escalated) },
                { value: 'quarantined', label: numbered('Quarantined', counts?.quarantined) },
              ]}
            />
            {nodes.length >= listLimit && (
              <Text size="sm" c="dimmed">
                These are the oldest {listLimit}; more follow as they are resolved.
              </Text>
            )}
          </Group>
        )}
        {list.isPending && [1, 2, 3].map((n) => <Skeleton key={n} h={80} radius="md" />)}
        {list.isError && nodes.length === 0 && (
          <ErrorNote error={list.error} retry={() => list.refetch()} doing="load what waits" />
        )}
        {nothing && status !== undefined && <EmptyState title={`Nothing is ${status}`} />}
        {nothing && status === undefined && (
          <EmptyState
            title="Nothing waits for you"
            action={
              <Button component={Link} to={`/pipelines/${pipelineId}/tasks`} variant="default">
                See all tasks
              </Button>
            }
          >
            What is rejected too often, runs out of time, or is handed up by a reviewer shows here for a decision.
          </EmptyState>
        )}
        {nodes.map((n) => (
          <Row key={`${n.task_id}/${n.node}`} node={n} title={names.node(n.node)} ask={ask} pipelineId={pipelineId} />
        ))}
      </Stack>
    </PipelineFrame>
  );
}

/** A label with how many there are, where that is known. */
function numbered(label: string, n: number | undefined): string {
  return n === undefined ? label : `${label} ${n.toLocaleString('en')}`;
}

interface RowProps {
  node: WaitingNode;
  title: string;
  pipelineId: number;
  ask: ReturnType<typeof useAction>['ask'];
}

function Row({ node: n, title, pipelineId, ask }: RowProps) {
  const reason = reasonText(n.reason);
  const place = { pipelineId, taskId: n.task_id, node: n.node };
  return (
    <Paper withBorder p="sm" component="article" aria-label={`${title} of task ${n.task_id}`}>
      <Group justify="space-between" align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 260px' }}>
          <Group gap="xs">
            <Anchor component={Link} to={`/tasks/${n.task_id}`} fw={600}>
              Task {n.task_id}
            </Anchor>
            <Text size="sm">{title}</Text>
            <StatusBadge status={n.status} />
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {reason ? `Because ${reason}` : 'An admin set it aside without a reason.'}
          </Text>
          <Text size="xs" c="dimmed">
            Since <Ago at={n.since} />
          </Text>
        </div>
        <Group gap="xs">
          {resolutions.map((a) => (
            <Button
              key={a.id}
              size="xs"
              variant="default"
              onClick={() => ask({ action: a, place, what: `${title} of task ${n.task_id}` })}
            >
              {a.label}…
            </Button>
          ))}
          <Button
            size="xs"
            variant="default"
            c="red"
            onClick={() => ask({ action: fail, place: { pipelineId, taskId: n.task_id }, what: `task ${n.task_id}` })}
          >
            Cancel task…
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
