import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { live } from '@/app/query';
import { claimsQuery } from '@/features/home/queries';
import { useMe } from '@/features/session/me';
import { Ago } from '@/ui/Ago';
import { Section } from '@/ui/Section';
import type { Role } from '../queries';

interface Props {
  /** Only those of one queue. */
  pipelineId?: number;
  role?: Role;
}

/** What the person holds already, the one that runs out first on top. */
export function HeldList({ pipelineId, role }: Props) {
  const b = useMe();
  const { data } = useQuery({ ...claimsQuery, refetchInterval: live });
  const kind = role && (role === 'reviewer' ? 'review' : 'subtask');
  const claims = (data?.claims ?? []).filter(
    (c) => (!pipelineId || c.pipeline_id === pipelineId) && (!kind || c.kind === kind),
  );
  if (claims.length === 0) return null;
  return (
    <Section title="You hold">
      <Stack gap="xs">
        {claims.map((c) => (
          <Paper key={c.claim_id} withBorder px="md" py="xs">
            <Group justify="space-between" gap="sm">
              <Text size="sm">
                <Text span fw={600} size="sm">
                  {!pipelineId && `${b.pipeline(c.pipeline_id)?.name ?? 'Pipeline'} · `}Task {c.task_id}
                </Text>{' '}
                {c.kind === 'review' && 'review '}
                {c.iteration > 1 && `round ${c.iteration}, `}
                <Text span c="dimmed" size="sm">
                  runs out <Ago at={c.lease_expires_at} />
                </Text>
              </Text>
              <Button
                component={Link}
                to={`/claims/${c.claim_id}`}
                size="compact-sm"
                variant="light"
                aria-label={`Go on with task ${c.task_id}`}
              >
                Go on
              </Button>
            </Group>
          </Paper>
        ))}
      </Stack>
    </Section>
  );
}
