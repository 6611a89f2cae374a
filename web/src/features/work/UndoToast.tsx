import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';
import { serverNow } from '@/api';
import { useHotkeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';

/** The offer that stands. Each has an id of its own: what becomes of an earlier one does not withdraw it. */
let id = '';
/** In pixels. */
const narrow = 768;

interface Undo {
  claimId: string;
  message: string;
  /** RFC 3339. */
  until: string;
  /** Resolves to whether that is settled. As long as it is not, the offer stands. */
  onUndo: () => Promise<boolean>;
}

/** Offers to take the last submission back, as long as that is possible. The next one takes its place. */
export function offerUndo(undo: Undo) {
  notifications.hide(id);
  const left = Date.parse(undo.until) - serverNow();
  if (left <= 0) return;
  const own = `undo/${undo.claimId}`;
  id = own;
  notifications.show({
    id: own,
    autoClose: left,
    withCloseButton: true,
    color: 'teal',
    position: window.innerWidth < narrow ? 'top-center' : 'bottom-left', // not over the bar that submits
    message: (
      <UndoLine
        {...undo}
        onUndo={async () => {
          const settled = await undo.onUndo();
          if (settled) notifications.hide(own);
          return settled;
        }}
      />
    ),
  });
}

function UndoLine({ message, until, onUndo }: Undo) {
  const [left, setLeft] = useState(() => Date.parse(until) - serverNow());
  useEffect(() => {
    const timer = setInterval(() => setLeft(Date.parse(until) - serverNow()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  const [busy, setBusy] = useState(false);
  const run = () => {
    if (busy) return;
    setBusy(true);
    void onUndo().finally(() => setBusy(false));
  };
  useHotkeys([{ keys: 'mod+z', label: 'Undo the last submission', group: 'Work', run, disabled: left <= 0 }]);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      <Text size="sm">{message}</Text>
      <Button
        size="compact-sm"
        variant="light"
        onClick={run}
        loading={busy}
        disabled={left <= 0}
        rightSection={<Hotkey keys="mod+z" />}
      >
        Undo ({Math.max(0, Math.ceil(left / 1000))} s)
      </Button>
    </Group>
  );
}
