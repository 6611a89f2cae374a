import { Badge, Group, List, Text } from '@mantine/core';
import type { QueueReason } from '@/api';
import { most } from '@/features/home/queues';
import { Ago } from '@/ui/Ago';

/** Why there is not more in a queue: each reason in words, with its number and when it ends by itself. */
export function Why({ reasons }: { reasons: readonly QueueReason[] }) {
  return (
    <List spacing={6} listStyleType="none" aria-label="Why there is not more">
      {reasons.map((r) => (
        <List.Item key={r.code}>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            {r.count > 0 && (
              <Badge variant="light" color="gray" miw={36} tt="none">
                {most(r.count)}
              </Badge>
            )}
            <Text size="sm" ta="start">
              {r.message}
              {r.next_at && (
                <>
                  {' '}
                  The first may be free <Ago at={r.next_at} />.
                </>
              )}
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  );
}
