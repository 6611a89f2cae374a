import { Anchor, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Queue } from '@/api';
import { live } from '@/app/query';
import { queuesQuery } from '@/features/home/queries';
import { byNeed, most } from '@/features/home/queues';
import { useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Actions, Cell, List, Row } from '@/ui/List';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { Section } from '@/ui/Section';
import { StatusBadge } from '@/ui/StatusBadge';
import { HeldList } from './queue/HeldList';

/** Every queue that the person can work in, across projects. */
export default function QueuesPage() {
  const { data, error, isPending, refetch } = useQuery({ ...queuesQuery, refetchInterval: live });
  const queues = data?.queues ?? [];
  const projects = [...new Map(queues.map((q) => [q.project_id, q.project]))];
  const free = queues.reduce((n, q) => n + q.available + q.returned, 0);
  return (
    <Page title="Work" lead={data && queues.length > 0 ? `${most(free)} for you to take` : undefined}>
      <HeldList />
      {isPending && <RowsSkeleton rows={4} />}
      {error && !data && <ErrorNote error={error} doing="look for work" retry={() => void refetch()} />}
      {data && queues.length === 0 && <NoQueues />}
      {projects.map(([id, name]) => (
        <Section key={id} title={name}>
          <List
            label={`Queues of ${name}`}
            columns={['Pipeline', 'Came back to you', 'You hold', 'Available', 'Held by others', '']}
          >
            {byNeed(queues.filter((q) => q.project_id === id)).map((q) => (
              <Line key={`${q.pipeline_id} ${q.role}`} queue={q} />
            ))}
          </List>
        </Section>
      ))}
    </Page>
  );
}

function Line({ queue: q }: { queue: Queue }) {
  const review = q.role === 'reviewer';
  const work = q.available + q.returned + q.mine;
  const to = `/pipelines/${q.pipeline_id}/work?role=${q.role}`;
  return (
    <Row past={work === 0}>
      <Cell>
        <div>
          <Anchor component={Link} to={to} fw={600} size="sm">
            {q.pipeline}
          </Anchor>
          <Text size="sm" c="dimmed">
            {review ? 'Review' : 'Tasks'} {q.status === 'PAUSED' && <StatusBadge status="PAUSED" />}
          </Text>
        </div>
      </Cell>
      <Cell label="Came back to you">{q.returned > 0 ? <strong>{most(q.returned)}</strong> : 0}</Cell>
      <Cell label="You hold">{q.mine}</Cell>
      <Cell label="Available">{most(q.available)}</Cell>
      <Cell label="Held by others">{most(q.claimed_by_others)}</Cell>
      <Actions>
        <Button
          component={Link}
          to={to}
          size="compact-sm"
          variant={work > 0 ? 'filled' : 'default'}
          aria-label={`${work > 0 ? (review ? 'Review' : 'Work on') : 'See why nothing is there in'} ${q.pipeline}`}
        >
          {work > 0 ? (review ? 'Review' : 'Start') : 'Why nothing?'}
        </Button>
      </Actions>
    </Row>
  );
}

function NoQueues() {
  const b = useMe();
  const admin = b.isAdminSomewhere;
  return (
    <EmptyState
      title="There is no queue for you yet"
      action={
        <Button component={Link} to={admin ? '/projects' : '/history'} variant={admin ? 'filled' : 'default'}>
          {admin ? 'Go to the projects' : 'My submissions'}
        </Button>
      }
    >
      {b.projects.length === 0
        ? 'You are in no project. An admin of your organization gives you a role in one.'
        : `You are in ${b.projects.length} ${b.projects.length === 1 ? 'project' : 'projects'}, but none has a published pipeline with work of your role. Queues show up here by themselves.`}
    </EmptyState>
  );
}
