import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { NewInvite } from '@/api';
import { absolute } from '@/lib/time';
import { Snippet } from '@/ui/Snippet';

/** The link of an invite, shown only now. */
export function InviteLink({ made, close }: { made: NewInvite; close: () => void }) {
  const text = `You are invited to Taskloom: ${made.url}`;
  return (
    <Stack gap="md">
      <Text size="sm">
        For <strong>{made.email}</strong>. It works once, until {absolute(made.expires_at)}, and is not shown again.
        Taskloom sends no mail: hand it over yourself.
      </Text>
      <Snippet text={made.url} what="the link" wrap />
      <Group justify="space-between" gap="xs">
        <Anchor
          size="sm"
          href={`mailto:${encodeURIComponent(made.email)}?subject=${encodeURIComponent('Invitation to Taskloom')}&body=${encodeURIComponent(text)}`}
        >
          Write a mail
        </Anchor>
        <Button onClick={close}>Done</Button>
      </Group>
    </Stack>
  );
}
