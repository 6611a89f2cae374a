import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { serverNow } from '@/api';
import { useHotkeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';

const id = 'undo';
/** In pixels. */
const narrow = 768;

interface Undo {
  message: string;
  /** RFC 3339. */
  until: string;
  onUndo: () => void;
}

/** Offers to take the last submission back, as long as that is possible. The next one takes its place. */
export function offerUndo(undo: Undo) {
  notifications.hide(id);
  const left = Date.parse(undo.until) - serverNow();
  if (left <= 0) return;
  notifications.show({
    id,
    autoClose: left,
    withCloseButton: true,
    color: 'teal',
    position: window.innerWidth < narrow ? 'top-center' : 'bottom-left', // not over the bar that submits
    message: (
      <UndoLine
        {...undo}
        onUndo={() => {
          notifications.hide(id);
          undo.onUndo();
        }}
      />
    ),
  });
}

export function withdrawUndo() {
  notifications.hide(id);
}

function UndoLine({ message, until, onUndo }: Undo) {
  const [left, setLeft] = useState(() => Date.parse(until) - serverNow());
  useEffect(() => {
    const timer = setInterval(() => setLeft(Date.parse(until) - serverNow()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  useHotkeys([{ keys: 'mod+z', label: 'Undo the last submission', group: 'Work', run: onUndo, disabled: left <= 0 }]);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <Text size="sm">{message}</Text>
      <Button
        size="compact-sm"
        variant="light"
        onClick={onUndo}
        disabled={left <= 0}
        rightSection={<Hotkey keys="mod+z" />}
      >
        Undo ({Math.max(0, Math.ceil(left / 1000))} s)
      </Button>
    </Group>
  );
}
