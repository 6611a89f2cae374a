import { Anchor, Button, Group, Select, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Done } from '@/api';
import { live } from '@/app/query';
import { Progress } from '@/features/home/Progress';
import { useMe } from '@/features/session/me';
import { Ago } from '@/ui/Ago';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Actions, Cell, List, Row } from '@/ui/List';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { Section } from '@/ui/Section';
import { OutcomeBadge } from './history/OutcomeBadge';
import { verdicts } from './history/outcomes';
import { UndoButton } from './history/UndoButton';
import { historyQuery } from './queries';

/** What the person handed in, and what became of it. */
export default function HistoryPage() {
  const { pipeline } = useSearch({ strict: false }) as { pipeline?: number };
  const navigate = useNavigate();
  const b = useMe();
  const history = useInfiniteQuery({
    ...historyQuery(pipeline),
    refetchInterval: (query) => live * 3 * Math.max(1, query.state.data?.pages.length ?? 1),
  });
  const done = history.data?.pages.flatMap((p) => p.submissions) ?? [];
  const pipelines = b.projects.flatMap((p) =>
    p.pipelines.filter((l) => l.status !== 'DRAFT').map((l) => ({ value: String(l.id), label: l.name })),
  );
  return (
    <Page
      title="My submissions"
      actions={
        <Select
          aria-label="Pipeline"
          placeholder="All pipelines"
          data={pipelines}
          value={pipeline ? String(pipeline) : null}
          onChange={(v) => void navigate({ to: '/history', search: v ? { pipeline: Number(v) } : {}, replace: true })}
          clearable
          searchable
          w={240}
        />
      }
    >
      <Progress />
      <Section title="Handed in">
        {history.isPending && <RowsSkeleton rows={6} />}
        {history.error && !history.data && (
          <ErrorNote error={history.error} doing="load your submissions" retry={() => void history.refetch()} />
        )}
        {history.data && done.length === 0 && !history.hasNextPage && (
          <EmptyState
            title={pipeline ? 'Nothing from this pipeline yet' : 'Nothing yet'}
            action={
              <Button component={Link} to="/work">
                Go to the queues
              </Button>
            }
          >
            What you submit shows up here, with what reviewers said about it.
          </EmptyState>
        )}
        {done.length > 0 && (
          <List label="Submissions" columns={['Task', 'Pipeline', 'When', 'What became of it', '']}>
            {done.map((d) => (
              <Line key={d.claim_id} done={d} />
            ))}
          </List>
        )}
        {history.hasNextPage && (
          <Group justify="center" mt="md">
            <Button variant="default" loading={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
              Show older ones
            </Button>
          </Group>
        )}
      </Section>
    </Page>
  );
}

function Line({ done: d }: { done: Done }) {
  return (
    <Row past={d.outcome === 'undone'}>
      <Cell>
        <div>
          <Anchor component={Link} to={`/history/${d.claim_id}`} size="sm" fw={600}>
            Task {d.task_id} · {d.title || d.node}
          </Anchor>
          <Text size="xs" c="dimmed">
            {d.kind === 'review' ? `Review: ${verdicts[d.verdict] ?? d.verdict}` : `Round ${d.iteration}`}
          </Text>
        </div>
      </Cell>
      <Cell label="Pipeline">{d.pipeline}</Cell>
      <Cell label="When">
        <Ago at={d.at} />
      </Cell>
      <Cell label="What became of it">
        <OutcomeBadge outcome={d.outcome} />
      </Cell>
      <Actions>
        <UndoButton claimId={d.claim_id} until={d.undo_until} />
      </Actions>
    </Row>
  );
}
