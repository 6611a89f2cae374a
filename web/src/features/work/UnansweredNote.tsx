import { Button, Group, Stack, Text } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { asAPIError } from '@/api';
import { Note } from '@/ui/Note';
import type { Unanswered } from './useUnanswered';

/** Nobody knows whether it was handed in: the same again finds out. */
export function UnansweredNote({ sent }: { sent: Unanswered }) {
  if (!sent.open) return null;
  return (
    <Note color="orange" icon={<IconCloudOff />} title="No answer to your submission yet" role="alert">
      <Stack gap="sm">
        <Text size="sm">
          {sent.error ? `${asAPIError(sent.error).message} ` : ''}It may have been handed in all the same. Trying again
          sends exactly what you submitted, and counts once.
        </Text>
        <Group gap="xs">
          <Button size="xs" onClick={sent.repeat} loading={sent.repeating}>
            Try again
          </Button>
          <Button size="xs" variant="default" onClick={sent.change} disabled={sent.repeating}>
            Change something first
          </Button>
        </Group>
      </Stack>
    </Note>
  );
}
