import { Anchor, Button, CloseButton, Group, Paper, ScrollArea, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '@/ui/Ago';
import { ErrorNote } from '@/ui/ErrorNote';
import { Hotkey } from '@/ui/Hotkey';
import { StatusBadge } from '@/ui/StatusBadge';
import { Answers } from './Answers';
import { taskActions } from './actions';
import { NodeList } from './NodeList';
import { namesIn } from './names';
import { taskQuery } from './queries';
import { Timeline } from './Timeline';
import { useAction } from './useAction';

/** A task at a glance, beside the list. */
export function QuickView({ taskId, close, tall }: { taskId: number; close: () => void; tall?: boolean }) {
  const task = useQuery(taskQuery(taskId));
  const { ask, dialog } = useAction();
  const t = task.data;
  return (
    <Paper withBorder p="md">
      {dialog}
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h4">
            <Anchor component={Link} to={`/tasks/${taskId}`} inherit>
              Task {taskId}
            </Anchor>
          </Title>
          {t && <StatusBadge status={t.status} />}
        </Group>
        <CloseButton onClick={close} aria-label="Close the side panel" />
      </Group>
      {task.isPending && <Skeleton h={240} />}
      {task.isError && <ErrorNote error={task.error} retry={() => task.refetch()} doing="load the task" />}
      {t && (
        <ScrollArea.Autosize
          mah={tall ? 'calc(100dvh - 110px)' : 'calc(100dvh - 330px)'}
          type="auto"
          offsetScrollbars
          viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': `About task ${taskId}` }}
        >
          <Stack gap="md">
            <Text size="sm" c="dimmed">
              Created <Ago at={t.created_at} /> · priority {t.priority} · version {t.version}
            </Text>
            <NodeList task={t} ask={ask} />
            <Answers task={t} compact />
            <section>
              <Title order={3} size="h5" mb={6}>
                Latest
              </Title>
              <Timeline events={t.timeline.slice(0, 6)} names={namesIn(t)} submissions={t.submissions} />
            </section>
            <Group gap="xs">
              <Button component={Link} to={`/tasks/${taskId}`} size="xs">
                Open the task
              </Button>
              {taskActions(t).map((a) => (
                <Button
                  key={a.id}
                  size="xs"
                  variant="default"
                  c={a.danger ? 'red' : undefined}
                  onClick={() =>
                    ask({ action: a, place: { pipelineId: t.pipeline_id, taskId }, what: `task ${taskId}` })
                  }
                >
                  {a.label}…
                </Button>
              ))}
            </Group>
            <Text size="xs" c="dimmed">
              <Hotkey keys="shift+ArrowUp" /> <Hotkey keys="shift+ArrowDown" /> previous, next task
            </Text>
          </Stack>
        </ScrollArea.Autosize>
      )}
    </Paper>
  );
}
