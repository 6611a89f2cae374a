import { Button, Group, Text } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { clock } from '@/lib/time';
import { notify } from '@/ui/notify';
import classes from './LeaseClock.module.css';
import type { Lease } from './useLease';

/** How long the task is still the person's. Read out when it becomes short, not every second. */
export function LeaseClock({ lease }: { lease: Lease }) {
  const minutes = Math.ceil(lease.left / 60_000);
  return (
    <Group gap={6} wrap="nowrap" className={classes.clock} data-phase={lease.phase}>
      <IconClock size={16} aria-hidden="true" />
      <Text
        span
        size="sm"
        fw={600}
        role="timer"
        title="How long this task is yours. It goes on by itself while you work."
        className={classes.time}
      >
        {lease.phase === 'over' ? 'Time is over' : clock(lease.left)}
      </Text>
      <span className="sr-only" role="status">
        {lease.phase === 'amber' && `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left`}
        {lease.phase === 'over' && 'The time for this task is over'}
      </span>
      {lease.phase !== 'calm' && !lease.lost && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => lease.extend().catch((err) => notify.failed('extend the time', err))}
        >
          Extend
        </Button>
      )}
    </Group>
  );
}
