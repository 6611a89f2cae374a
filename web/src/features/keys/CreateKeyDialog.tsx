import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewKey } from '@/api';
import { ErrorNote } from '@/ui/ErrorNote';
import { ExpiryChoice } from './ExpiryChoice';
import type { Expiry } from './expiry';
import { useCreateKey } from './queries';

interface Props {
  orgId: number;
  close: () => void;
  created: (key: NewKey) => void;
}

export function CreateKeyDialog({ orgId, close, created }: Props) {
  const [name, setName] = useState('');
  const [expires, setExpires] = useState<Expiry>('90d');
  const create = useCreateKey(orgId);
  // On its way it cannot be called back: there would be a key that nobody has seen.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true, disabled: !create.isPending });
  const leave = () => !create.isPending && close();
  return (
    <Modal opened onClose={leave} title="Create an API key">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          create.mutate({ name: name.trim(), expires }, { onSuccess: created });
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Name"
            description="The integration that uses it. It cannot be changed later."
            placeholder="nightly-import"
            required
            maxLength={100}
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            data-autofocus
          />
          <ExpiryChoice label="Expiry" value={expires} onChange={setExpires} />
          {create.error && <ErrorNote error={create.error} doing="create the key" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={leave} disabled={create.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
              Create key
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
