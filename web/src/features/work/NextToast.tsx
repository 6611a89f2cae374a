import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

const id = 'next';
/** In milliseconds. It also stands under "You hold" in its queue. */
const shownFor = 30_000;

/** Offers the claim that came with a hand-in to somebody who meanwhile went elsewhere. */
export function offerNext(message: string, open: () => void) {
  const go = () => {
    notifications.hide(id);
    open();
  };
  notifications.show({
    id,
    autoClose: shownFor,
    color: 'teal',
    message: (
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="light" onClick={go}>
          Open it
        </Button>
      </Group>
    ),
  });
}
