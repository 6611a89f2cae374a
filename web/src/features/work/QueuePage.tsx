import { Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { live } from '@/app/query';
import { queuesQuery } from '@/features/home/queries';
import { most } from '@/features/home/queues';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { chunk } from '@/lib/chunk';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { Section } from '@/ui/Section';
import type { Role } from './queries';
import { GivenTask } from './queue/GivenTask';
import { HeldList } from './queue/HeldList';
import { QueuePanel } from './queue/QueuePanel';
import type { QueueSearch } from './search';

const ReviewQueue = lazy(
  chunk(() => import('@/features/review/ReviewQueue').then((m) => ({ default: m.ReviewQueue }))),
);

/** One pipeline's work: the queue of a role, what one holds of it, and the way to a certain task. */
export default function QueuePage() {
  const { pipelineId: param } = useParams({ strict: false }) as { pipelineId: string };
  const search = useSearch({ strict: false }) as QueueSearch;
  const pipelineId = Number(param);
  const navigate = useNavigate();
  const queues = useQuery({ ...queuesQuery, refetchInterval: live });
  const mine = (queues.data?.queues ?? []).filter((q) => q.pipeline_id === pipelineId);
  // The role of the address, else the one that has a queue.
  const role: Role = search.role ?? mine[0]?.role ?? 'contributor';
  const go = (to: string | null) =>
    to &&
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: param },
      search: { role: to as Role },
      replace: true,
    });
  const list = (change: Pick<QueueSearch, 'order' | 'contributor'>) =>
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: param },
      search: { ...search, role, ...change },
      replace: true,
      resetScroll: false,
    });
  const count = (r: Role) => {
    const q = mine.find((queue) => queue.role === r);
    return q ? ` (${most(q.available + q.returned)})` : '';
  };
  const body = (
    <Stack gap="lg">
      <QueuePanel pipelineId={pipelineId} role={role} />
      <HeldList pipelineId={pipelineId} role={role} />
      {role === 'reviewer' && (
        <Section title="Waiting for review">
          <Suspense fallback={<RowsSkeleton rows={4} />}>
            <ReviewQueue
              pipelineId={pipelineId}
              order={search.order}
              contributor={search.contributor}
              onChange={list}
            />
          </Suspense>
        </Section>
      )}
      <Section title="A certain task">
        <GivenTask key={role} pipelineId={pipelineId} role={role} task={search.task} node={search.node} />
      </Section>
    </Stack>
  );
  return (
    <PipelineFrame pipelineId={pipelineId} tab="work">
      {mine.length > 1 ? (
        <Tabs value={role} onChange={go} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="contributor">Tasks{count('contributor')}</Tabs.Tab>
            <Tabs.Tab value="reviewer">Review{count('reviewer')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value={role}>{body}</Tabs.Panel>
        </Tabs>
      ) : queues.isPending && !search.role ? (
        <RowsSkeleton rows={2} />
      ) : (
        body
      )}
    </PipelineFrame>
  );
}
