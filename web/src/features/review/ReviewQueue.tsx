import { Badge, Button, Group, Paper, SegmentedControl, Select, Skeleton, Stack, Text } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { body, type Claim, claimWork, listClaims, listReviewQueue, type QueuedReview, type Work } from '@/api';
import { live } from '@/app/query';
import { useOpenClaim, useWhere } from '@/features/work/useOpenClaim';
import { Ago } from '@/ui/Ago';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';

interface Props {
  pipelineId: number;
  order?: 'age' | 'contributor';
  /** Whose work alone is listed. */
  contributor?: number;
  onChange: (change: { order?: 'contributor'; contributor?: number }) => void;
}

/** The reviews that wait in a pipeline: what waits longest first, or by who did the work. */
export function ReviewQueue({ pipelineId, order = 'age', contributor, onChange }: Props) {
  const [seen, setSeen] = useState<ReadonlyMap<number, string>>(new Map());
  const list = useInfiniteQuery({
    queryKey: ['listReviewQueue', pipelineId, order, contributor ?? 0],
    queryFn: async ({ pageParam }) => {
      const page = await body(
        listReviewQueue({
          path: { pipeline_id: pipelineId },
          query: { order, contributor, cursor: pageParam, limit: 50 },
        }),
      );
      setSeen((known) => withPeople(known, page.reviews));
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: (query) => live * Math.max(1, query.state.data?.pages.length ?? 1),
  });
  const { claim, error, busy } = useClaim(pipelineId);
  const reviews = list.data?.pages.flatMap((p) => p.reviews) ?? [];
  const names = withPeople(seen, reviews);
  // Who is chosen by the address may have nothing in the list.
  const unseen = contributor === undefined || names.has(contributor) ? [] : [contributor];
  const people = new Map([...names, ...unseen.map((id) => [id, `person ${id}`] as const)]);
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <Group gap="xs" align="flex-end">
          <SegmentedControl
            aria-label="Order"
            value={order}
            onChange={(v) => onChange({ order: v === 'contributor' ? 'contributor' : undefined })}
            data={[
              { value: 'age', label: 'Oldest first' },
              { value: 'contributor', label: 'By contributor' },
            ]}
          />
          <Select
            aria-label="Contributor"
            placeholder="Everybody’s work"
            w={200}
            clearable
            searchable
            data={[...people].map(([id, name]) => ({ value: String(id), label: name }))}
            value={contributor === undefined ? null : String(contributor)}
            onChange={(v) => onChange({ contributor: v ? Number(v) : undefined })}
          />
        </Group>
        {contributor !== undefined && reviews.some((r) => !r.claimed) && (
          <Button
            leftSection={<IconPlayerTrackNext size={16} />}
            loading={busy === 'next'}
            onClick={() => claim({ contributor })}
          >
            Next of {people.get(contributor)}
          </Button>
        )}
      </Group>
      {error && <ErrorNote error={error} doing="claim the review" />}
      {list.isPending && [1, 2, 3].map((n) => <Skeleton key={n} h={64} radius="md" />)}
      {list.isError && reviews.length === 0 && (
        <ErrorNote error={list.error} retry={() => list.refetch()} doing="load the reviews" />
      )}
      {list.isSuccess && reviews.length === 0 && !list.hasNextPage && (
        <EmptyState
          title="No review waits"
          action={
            contributor !== undefined && (
              <Button variant="default" onClick={() => onChange({ contributor: undefined })}>
                Show everybody’s work
              </Button>
            )
          }
        >
          {contributor === undefined
            ? 'Reviews show here as soon as somebody hands in work that needs one.'
            : 'Nothing of this person waits for a review now.'}
        </EmptyState>
      )}
      {reviews.map((r, i) => (
        <Stack key={`${r.task_id}/${r.node}`} gap="xs">
          {order === 'contributor' && r.contributor?.id !== reviews[i - 1]?.contributor?.id && (
            <Text size="sm" fw={600} mt={i > 0 ? 'sm' : 0}>
              {r.contributor?.name || 'Nobody'}
            </Text>
          )}
          <Row review={r} busy={busy === `${r.task_id}/${r.node}`} take={() => claim({ review: r })} />
        </Stack>
      ))}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="subtle" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Load more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Row({ review: r, busy, take }: { review: QueuedReview; busy: boolean; take: () => void }) {
  return (
    <Paper withBorder p="xs" component="article" aria-label={`${r.title || r.node} of task ${r.task_id}`}>
      <Group justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              Task {r.task_id}
            </Text>
            <Text size="sm">{r.title || r.node}</Text>
            {r.iteration > 1 && (
              <Badge size="sm" variant="default" tt="none" fw={500}>
                round {r.iteration}
              </Badge>
            )}
            {r.mine && (
              <Badge size="sm" variant="default" tt="none">
                yours
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {r.contributor ? `by ${r.contributor.name} · ` : ''}waits since <Ago at={r.since} />
          </Text>
        </div>
        {r.claimed && !r.mine ? (
          <Text size="sm" c="dimmed">
            taken
          </Text>
        ) : (
          <Button
            size="xs"
            variant={r.mine ? 'filled' : 'default'}
            loading={busy}
            onClick={take}
            aria-label={`${r.mine ? 'Continue' : 'Review'} task ${r.task_id}`}
          >
            {r.mine ? 'Continue' : 'Review'}
          </Button>
        )}
      </Group>
    </Paper>
  );
}

interface Wanted {
  review?: QueuedReview;
  contributor?: number;
}

/** Claims one review, or goes to it when the person holds it already. */
function useClaim(pipelineId: number) {
  const client = useQueryClient();
  const where = useWhere();
  const open = useOpenClaim();
  const take = useMutation({
    mutationFn: async ({ review, contributor }: Wanted): Promise<Work | Claim> => {
      if (review?.mine) {
        const mine = await body(listClaims());
        const held = mine.claims.find((c) => c.task_id === review.task_id && c.node === review.node);
        if (held) return held;
        // Kept for this person, not claimed yet.
      }
      const work = await body(
        claimWork({
          path: { pipeline_id: pipelineId },
          body: { role: 'reviewer', ...(review ? { task_id: review.task_id, node: review.node } : { contributor }) },
        }),
      );
      if (!work?.claim_id) throw new Error('Nothing of this person can be claimed just now: somebody was quicker.');
      return work;
    },
    onMutate: where,
    onSuccess: (claim, _, from) => open(from, claim),
    onSettled: () => client.invalidateQueries({ queryKey: ['listReviewQueue', pipelineId] }),
  });
  const wanted = take.isPending ? take.variables : undefined;
  const busy = wanted?.review ? `${wanted.review.task_id}/${wanted.review.node}` : wanted ? 'next' : '';
  return { claim: take.mutate, error: take.error, busy };
}

/** Everybody whose work was seen in the list, so that a filter can name them. */
function withPeople(known: ReadonlyMap<number, string>, reviews: readonly QueuedReview[]): ReadonlyMap<number, string> {
  const fresh = reviews.filter((r) => r.contributor && !known.has(r.contributor.id));
  if (fresh.length === 0) return known;
  return new Map([...known, ...fresh.map((r) => [r.contributor.id, r.contributor.name] as const)]);
}
