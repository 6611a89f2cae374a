import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key } from '@/api';
import { absolute } from '@/lib/time';
import { ErrorNote } from '@/ui/ErrorNote';
import { notify } from '@/ui/notify';
import { ExpiryChoice } from './ExpiryChoice';
import { type Expiry, endsAt } from './expiry';
import { useSetExpiry } from './queries';

/** A new expiry always counts from now, so it can also shorten a key's life. */
export function ExpiryDialog({ orgId, of: key, close }: { orgId: number; of: Key; close: () => void }) {
  const [expires, setExpires] = useState<Expiry>('90d');
  const save = useSetExpiry(orgId);
  const end = endsAt(expires, Date.now());
  const shorter = end !== null && (key.expires_at === null || end.getTime() < Date.parse(key.expires_at));
  return (
    <Modal opened onClose={close} title={`Expiry of “${key.name}”`}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const done = () => {
            notify.done(`“${key.name}” has a new expiry.`);
            close();
          };
          save.mutate({ id: key.id, expires }, { onSuccess: done });
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            Now: {key.expires_at ? absolute(key.expires_at) : 'no expiry'}. The new one is counted from this moment.
          </Text>
          <ExpiryChoice label="New expiry" value={expires} onChange={setExpires} />
          {shorter && (
            <Text size="sm" c="orange" role="status">
              This ends the key sooner than now.
            </Text>
          )}
          {save.error && <ErrorNote error={save.error} doing="change the expiry" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
