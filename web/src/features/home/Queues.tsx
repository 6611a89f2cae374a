import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Queue } from '@/api';
import { live } from '@/app/query';
import { useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Actions, Cell, List, Row } from '@/ui/List';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { PathLink } from '@/ui/PathLink';
import { Section } from '@/ui/Section';
import { StatusBadge } from '@/ui/StatusBadge';
import classes from './home.module.css';
import { queuesQuery } from './queries';
import { byNeed, most, workIn } from './queues';

const shown = 6;

/** Where there is work for the person, what came back to them first. */
export function Queues() {
  const b = useMe();
  const { data, error, isPending, refetch } = useQuery({ ...queuesQuery, refetchInterval: live });
  const all = data?.queues ?? [];
  const list = byNeed(all.filter((q) => workIn(q) > 0));
  return (
    <Section
      title="Work"
      actions={
        list.length > 0 && (
          <Button component={Link} to="/work" size="xs" variant="default">
            {all.length === 1 ? 'The queue' : `All ${all.length} queues`}
          </Button>
        )
      }
    >
      {isPending && <RowsSkeleton rows={3} />}
      {error && !data && <ErrorNote error={error} doing="look for work" retry={() => void refetch()} />}
      {data && list.length === 0 && <NoWork queues={all} />}
      {list.length > 0 && (
        <List label="Queues" tiles columns={['Pipeline', 'For you', 'Available', 'Held by others', '']}>
          {list.slice(0, shown).map((q) => (
            <Line key={`${q.pipeline_id} ${q.role}`} queue={q} several={b.projects.length > 1} />
          ))}
        </List>
      )}
    </Section>
  );
}

function NoWork({ queues }: { queues: Queue[] }) {
  if (queues.length === 0) {
    return (
      <EmptyState title="No queue yet">
        A queue shows up here by itself when a pipeline that you can work in is published.
      </EmptyState>
    );
  }
  const others = queues.reduce((sum, q) => sum + q.claimed_by_others, 0);
  return (
    <EmptyState
      title="Nothing to do right now"
      action={
        <Button component={Link} to="/work" variant="default">
          Look why
        </Button>
      }
    >
      {queues.length === 1 ? 'Your queue is' : `Your ${queues.length} queues are`} empty
      {others > 0 && `; others hold ${most(others)}`}. New work shows up here by itself.
    </EmptyState>
  );
}

function Line({ queue: q, several }: { queue: Queue; several: boolean }) {
  const review = q.role === 'reviewer';
  const to = `/pipelines/${q.pipeline_id}/work?role=${q.role}`;
  return (
    <Row>
      <Cell>
        <div>
          <PathLink path={to} className={classes.queue}>
            {q.pipeline}
          </PathLink>
          <div className={classes.dim}>
            {review ? 'Review' : 'Tasks'}
            {several && ` · ${q.project}`} {q.status === 'PAUSED' && <StatusBadge status="PAUSED" />}
          </div>
        </div>
      </Cell>
      <Cell label="For you">{q.returned + q.mine > 0 ? <strong>{most(q.returned + q.mine)}</strong> : 0}</Cell>
      <Cell label="Available">{most(q.available)}</Cell>
      <Cell label="Held by others">{most(q.claimed_by_others)}</Cell>
      <Actions corner>
        <Button
          component={PathLink}
          path={to}
          size="compact-sm"
          aria-label={`${review ? 'Review' : 'Work on'} ${q.pipeline}`}
        >
          {review ? 'Review' : 'Start'}
        </Button>
      </Actions>
    </Row>
  );
}
