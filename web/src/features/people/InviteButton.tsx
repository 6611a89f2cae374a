import { Button } from '@mantine/core';
import { useHotkeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';

export function InviteButton({ invite }: { invite: () => void }) {
  useHotkeys([{ keys: 'i', label: 'Invite somebody', group: 'Members', run: invite }]);
  return (
    <Button onClick={invite} rightSection={<Hotkey keys="i" onColor />} aria-keyshortcuts="i">
      Invite
    </Button>
  );
}
