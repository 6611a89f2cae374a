import { Badge } from '@mantine/core';
import type { Done } from '@/api';
import { outcomes } from './outcomes';

export function OutcomeBadge({ outcome }: { outcome: Done['outcome'] }) {
  const look = outcomes[outcome];
  return (
    <Badge
      variant="light"
      color={look.color}
      tt="none"
      title={look.about}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      {look.text}
    </Badge>
  );
}
