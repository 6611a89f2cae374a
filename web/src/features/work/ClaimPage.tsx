import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { asAPIError, type Work } from '@/api';
import { useMe } from '@/features/session/me';
import { chunk } from '@/lib/chunk';
import { Ago } from '@/ui/Ago';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { mirror } from './draft/mirror';
import { submissionQuery, workQuery } from './queries';
import { SubtaskWork } from './SubtaskWork';
import { useClaimNode } from './useReclaim';

const ReviewWork = lazy(chunk(() => import('@/features/review/ReviewWork').then((m) => ({ default: m.ReviewWork }))));

/** What the person holds: a subtask to do, or a review. */
export default function ClaimPage() {
  const { claimId } = useParams({ strict: false }) as { claimId: string };
  const { data: work, error, isPending, refetch } = useQuery(workQuery(claimId));
  useForgetWhenLeft(claimId);
  if (isPending) return <Loading />;
  const err = error && asAPIError(error);
  const ended = err?.status === 409 || err?.status === 404 ? err.message : undefined;
  if (work) return <Held key={work.claim_id} work={work} ended={ended} />;
  if (ended !== undefined) return <Over claimId={claimId} message={ended} />;
  return (
    <Page title="Task">
      <ErrorNote error={error} doing="open the task" retry={() => void refetch()} />
    </Page>
  );
}

/**
 * A form that was left is loaded anew: a draft begins with what the form brings, and in the meantime another tab or
 * device may have gone on. Not gcTime: what is put into the cache for the page to come would be gone before it.
 */
function useForgetWhenLeft(claimId: string) {
  const client = useQueryClient();
  useEffect(
    () => () => {
      const { queryKey } = workQuery(claimId);
      // Not at once: the strict mode of development leaves every page once and comes back in the same breath.
      queueMicrotask(() => client.removeQueries({ queryKey, exact: true, type: 'inactive' }));
    },
    [client, claimId],
  );
}

function Held({ work, ended }: { work: Work; ended?: string }) {
  if (work.kind === 'subtask') return <SubtaskWork work={work} ended={ended} />;
  return (
    <Suspense fallback={<Loading />}>
      <ReviewWork work={work} ended={ended} />
    </Suspense>
  );
}

function Loading() {
  return (
    <Stack gap="md" aria-busy="true" maw={1080} mx="auto">
      <h1 className="sr-only">Task</h1>
      <Skeleton h={36} w="60%" />
      <Skeleton h={120} />
      <Skeleton h={80} />
      <Skeleton h={80} />
    </Stack>
  );
}

/** A link to a claim that is over: it was handed in, perhaps by a submit whose answer got lost, or it ran out. */
function Over({ claimId, message }: { claimId: string; message: string }) {
  const { data: done, isPending } = useQuery({ ...submissionQuery(claimId), refetchInterval: false });
  if (isPending) return <Loading />;
  if (!done || done.outcome === 'undone') return <NoLonger claimId={claimId} message={message} />;
  return (
    <Page title="Task">
      <EmptyState
        title={done.kind === 'review' ? 'This review is submitted' : 'This task is submitted'}
        action={
          <Button component={Link} to={`/history/${claimId}`}>
            See what you submitted
          </Button>
        }
      >
        You handed in {done.title || done.node} of task {done.task_id} <Ago at={done.at} />.
      </EmptyState>
    </Page>
  );
}

/** As after coming back late: the draft is still here. */
function NoLonger({ claimId, message }: { claimId: string; message: string }) {
  const { me } = useMe();
  const kept = mirror.find(me.id, claimId);
  const claim = useClaimNode();
  const role = kept?.kind === 'review' ? 'reviewer' : 'contributor';
  return (
    <Page title="Task">
      <EmptyState
        title="This task is no longer yours"
        action={
          <Group gap="xs" justify="center">
            {kept && (
              <Button
                loading={claim.isPending}
                onClick={() => claim.mutate({ pipelineId: kept.pipelineId, taskId: kept.task, node: kept.node, role })}
              >
                Claim it again
              </Button>
            )}
            <Button component={Link} to="/work" variant={kept ? 'default' : 'filled'}>
              Go to the queues
            </Button>
          </Group>
        }
      >
        <Text size="sm">
          {message.charAt(0).toUpperCase() + message.slice(1)}.{' '}
          {kept?.values && 'What you wrote is kept in this browser and comes back with the task.'}
        </Text>
        {claim.refusal && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {claim.refusal}
          </Text>
        )}
      </EmptyState>
    </Page>
  );
}
