import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, resetSkips } from '@/api';
import { most } from '@/features/home/queues';
import { ariaKeys, useHotkeys } from '@/lib/hotkeys';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Hotkey } from '@/ui/Hotkey';
import { notify } from '@/ui/notify';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { queueStateQuery, type Role } from '../queries';
import { useClaimNext } from './useClaimNext';
import { Why } from './Why';

/** The head of one queue: how much there is, the way in, and why there is not more. */
export function QueuePanel({ pipelineId, role }: { pipelineId: number; role: Role }) {
  const client = useQueryClient();
  const state = useQuery(queueStateQuery(pipelineId, role));
  const next = useClaimNext(pipelineId, role);
  const reset = useMutation({
    mutationFn: () => body(resetSkips({ path: { pipeline_id: pipelineId } })),
    onSuccess: (done) => {
      void client.invalidateQueries({ queryKey: ['explainQueue'] });
      notify.done(`${done.reset} skipped ${done.reset === 1 ? 'task is' : 'tasks are'} back in your queue.`);
    },
    onError: (err) => notify.failed('bring the skipped tasks back', err),
  });
  const free = state.data ? state.data.available + state.data.returned : 0;
  const start = () => {
    if (free > 0) next.next();
  };
  useHotkeys([{ keys: 'n', label: 'Start the next one', group: 'Queue', run: start, disabled: free === 0 }]);

  if (state.isPending) return <RowsSkeleton rows={2} />;
  if (!state.data)
    return <ErrorNote error={state.error} doing="look into the queue" retry={() => void state.refetch()} />;
  const { returned, reasons } = state.data;
  const skipped = reasons.some((r) => r.code === 'skipped');
  const bringBack = skipped && (
    <Button variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
      Bring skipped tasks back
    </Button>
  );
  const word = role === 'reviewer' ? 'review' : 'task';
  if (free === 0) {
    return (
      <EmptyState title={`There is no ${word} for you right now`} action={bringBack}>
        {reasons.length > 0 ? (
          <Why reasons={reasons} />
        ) : (
          `Nothing waits here. A new ${word} shows up by itself, this page looks every few seconds.`
        )}
      </EmptyState>
    );
  }
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" gap="md">
        <Stack gap={4}>
          <Title order={2} size="h3">
            {most(free)} {free === 1 ? `${word} is` : `${word}s are`} waiting for you
          </Title>
          {returned > 0 && (
            <Text size="sm">
              {returned === 1 ? 'One of them came back to you' : `${most(returned)} of them came back to you`}; what
              came back is served first.
            </Text>
          )}
          {next.isSuccess && next.data === null && (
            <Text size="sm" role="status">
              Somebody was quicker. Try again.
            </Text>
          )}
        </Stack>
        <Group gap="xs">
          {bringBack}
          <Button
            size="md"
            onClick={start}
            loading={next.isPending}
            rightSection={<Hotkey keys="n" onColor />}
            aria-keyshortcuts={ariaKeys('n')}
          >
            Start the next {word}
          </Button>
        </Group>
      </Group>
      {reasons.length > 0 && (
        <details style={{ marginTop: 12 }}>
          <summary style={{ cursor: 'pointer', fontSize: 'var(--mantine-font-size-sm)' }}>
            Why there is not more
          </summary>
          <div style={{ marginTop: 8 }}>
            <Why reasons={reasons} />
          </div>
        </details>
      )}
    </Paper>
  );
}
