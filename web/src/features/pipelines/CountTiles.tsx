import { Group, Paper, Progress, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Counts } from '@/api';
import classes from './CountTiles.module.css';

interface Props {
  pipelineId: number;
  counts: Counts;
  /** Tiles lead to the list of tasks. */
  linked: boolean;
}

/** How much work there is, by what it waits for. */
export function CountTiles({ pipelineId, counts: c, linked }: Props) {
  const tiles: { label: string; about: string; value: number; to?: string; search: object }[] = [
    { label: 'Available', about: 'can be claimed now', value: c.available, search: { node_status: 'available' } },
    { label: 'Being done', about: 'held by somebody', value: c.claimed, search: { node_status: 'claimed' } },
    { label: 'In review', about: 'wait for a reviewer', value: c.in_review, to: 'work', search: { role: 'reviewer' } },
    { label: 'Escalated', about: 'wait for an admin', value: c.escalated, search: { status: 'escalated' } },
    { label: 'Quarantined', about: 'something is wrong', value: c.quarantined, search: { status: 'quarantined' } },
    { label: 'Finished', about: 'tasks are done', value: c.finished, search: { status: 'finished' } },
  ];
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="sm">
        {tiles.map((t) => {
          const tile = (
            <Paper withBorder p="sm" className={linked ? classes.tile : undefined}>
              <Text size="xs" c="dimmed">
                {t.label}
              </Text>
              <Text fz={26} fw={650} lh={1.2} className={classes.number}>
                {t.value.toLocaleString('en')}
              </Text>
              <Text size="xs" c="dimmed">
                {t.about}
              </Text>
            </Paper>
          );
          if (!linked) return <div key={t.label}>{tile}</div>;
          return (
            <UnstyledButton
              key={t.label}
              component={Link}
              to={`/pipelines/${pipelineId}/${t.to ?? 'tasks'}`}
              search={t.search as never}
              className={classes.link}
            >
              {tile}
            </UnstyledButton>
          );
        })}
      </SimpleGrid>
      <TaskProgress counts={c} />
    </Stack>
  );
}

/** How far the tasks of a pipeline are. */
export function TaskProgress({ counts: c }: { counts: Pick<Counts, 'finished' | 'failed' | 'open' | 'total'> }) {
  if (c.total === 0) return null;
  const share = (n: number) => (n / c.total) * 100;
  return (
    <div>
      <Progress.Root size="md" aria-hidden="true">
        <Progress.Section value={share(c.finished)} color="teal" />
        <Progress.Section value={share(c.failed)} color="red" />
      </Progress.Root>
      <Group gap="xs" mt={4}>
        <Text size="xs" c="dimmed">
          {c.finished.toLocaleString('en')} of {c.total.toLocaleString('en')} tasks finished
          {c.open > 0 && ` · ${c.open.toLocaleString('en')} open`}
          {c.failed > 0 && ` · ${c.failed.toLocaleString('en')} failed`}
        </Text>
      </Group>
    </div>
  );
}
