import { Button } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { PipelineOverview } from '@/api';
import { pipelinesQuery } from '@/features/pipelines/queries';
import { useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Cell, List, Row } from '@/ui/List';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { Section } from '@/ui/Section';
import { StatusDot } from '@/ui/StatusBadge';
import { Bar } from './Bar';
import classes from './home.module.css';

/** Projects asked for: each is a request every few seconds. */
const projectsMost = 4;
const pipelinesMost = 8;

/** How the running pipelines stand, those that need an admin first. */
export function Overview() {
  const b = useMe();
  const projects = b.projects.filter((p) => b.isAdminOf(p.id)).slice(0, projectsMost);
  const answers = useQueries({ queries: projects.map((p) => pipelinesQuery(p.id)) });
  const all = answers.flatMap((a) => a.data?.pipelines ?? []);
  const running = all.filter((p) => p.status === 'ACTIVE' || p.status === 'PAUSED').sort(byNeed);
  const pending = answers.some((a) => a.isPending);
  const failed = answers.find((a) => a.error && !a.data);
  const [first] = projects;
  return (
    <Section
      title="Pipelines"
      actions={
        <Button
          component={Link}
          to={first && projects.length === 1 ? `/projects/${first.id}` : '/projects'}
          size="xs"
          variant="default"
        >
          All pipelines
        </Button>
      }
    >
      {pending && running.length === 0 && <RowsSkeleton rows={3} />}
      {failed && <ErrorNote error={failed.error} doing="count the tasks" retry={() => void failed.refetch()} />}
      {!pending && !failed && running.length === 0 && first && (
        <EmptyState
          title="Nothing runs yet"
          action={
            <Button component={Link} to={`/projects/${first.id}`}>
              {all.length === 0 ? 'Make a pipeline' : 'Look at the drafts'}
            </Button>
          }
        >
          {all.length === 0
            ? 'A pipeline says who does what with a task. Build one, publish it, send tasks to it.'
            : `${all.length} ${all.length === 1 ? 'pipeline is' : 'pipelines are'} not published or no longer active.`}
        </EmptyState>
      )}
      {running.length > 0 && (
        <List
          label="Running pipelines"
          tiles
          columns={['Pipeline', 'Available', 'Held', 'In review', 'For an admin', 'Finished']}
        >
          {running.slice(0, pipelinesMost).map((p) => (
            <Line key={p.id} pipeline={p} />
          ))}
        </List>
      )}
    </Section>
  );
}

function waiting(p: PipelineOverview): number {
  return p.counts.escalated + p.counts.quarantined;
}

function byNeed(a: PipelineOverview, b: PipelineOverview): number {
  return waiting(b) - waiting(a) || b.counts.open - a.counts.open || a.name.localeCompare(b.name);
}

function Line({ pipeline: p }: { pipeline: PipelineOverview }) {
  const c = p.counts;
  const n = (x: number) => x.toLocaleString('en');
  return (
    <Row>
      <Cell>
        <Link to="/pipelines/$pipelineId" params={{ pipelineId: String(p.id) }} className={classes.queue}>
          <StatusDot status={p.status} /> {p.name}
          {p.status === 'PAUSED' && <span className={classes.dim}> paused</span>}
        </Link>
      </Cell>
      <Cell label="Available">{n(c.available)}</Cell>
      <Cell label="Held">{n(c.claimed)}</Cell>
      <Cell label="In review">{n(c.in_review)}</Cell>
      <Cell label="For an admin">
        {waiting(p) > 0 ? (
          <Link to="/pipelines/$pipelineId/waiting" params={{ pipelineId: String(p.id) }} className={classes.alarm}>
            {n(waiting(p))}
          </Link>
        ) : (
          0
        )}
      </Cell>
      <Cell label="Finished">
        <Bar done={c.finished} of={c.total} />
      </Cell>
    </Row>
  );
}
