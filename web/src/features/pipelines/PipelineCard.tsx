import { Anchor, Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { PipelineOverview } from '@/api';
import { Ago } from '@/ui/Ago';
import { StatusBadge } from '@/ui/StatusBadge';
import { TaskProgress } from './CountTiles';
import classes from './cards.module.css';
import { PipelineMenu } from './PipelineMenu';

/** A pipeline with its live counts, and the way to what the caller does there. */
export function PipelineCard({ pipeline: p, admin }: { pipeline: PipelineOverview; admin: boolean }) {
  const c = p.counts;
  const numbers = [
    ['Available', c.available],
    ['Being done', c.claimed],
    ['In review', c.in_review],
    ['For an admin', c.escalated + c.quarantined],
    ['Finished', c.finished],
  ] as const;
  return (
    <Paper withBorder p="md" component="article" aria-label={p.name}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div style={{ minWidth: 0 }}>
            <Group gap="xs">
              <Anchor component={Link} to={`/pipelines/${p.id}`} fw={600} className={classes.name}>
                {p.name}
              </Anchor>
              <StatusBadge status={p.status} />
              {admin && p.has_unpublished && p.status !== 'DRAFT' && (
                <Badge variant="outline" color="yellow" tt="none" c="var(--mantine-color-text)">
                  unpublished changes
                </Badge>
              )}
            </Group>
            <Text size="xs" c="dimmed" mt={2}>
              {p.version > 0 ? `Version ${p.version}` : 'Never published'} · changed <Ago at={p.updated_at} />
            </Text>
          </div>
          <Group gap="xs" wrap="nowrap">
            {!admin && (
              <Button component={Link} to={`/pipelines/${p.id}/work`} size="xs">
                Work
              </Button>
            )}
            {admin && <PipelineMenu pipeline={p} />}
          </Group>
        </Group>
        {p.version > 0 && (
          <>
            <dl className={classes.numbers}>
              {numbers.map(([label, n]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{n.toLocaleString('en')}</dd>
                </div>
              ))}
            </dl>
            <TaskProgress counts={c} />
          </>
        )}
      </Stack>
    </Paper>
  );
}
