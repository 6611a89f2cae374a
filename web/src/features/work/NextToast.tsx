import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** In milliseconds. It also stands under "You hold" in its queue. */
const shownFor = 30_000;

/** Offers a claim to somebody who went elsewhere before the answer that it came with. */
export function offerNext(message: string, open: () => void) {
  const go = () => {
    notifications.hide(id);
    open();
  };
  // Each stands by itself: one that is offered meanwhile takes no other's place.
  const id = notifications.show({
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
