import { Button, Checkbox, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';

interface Props {
  opened: boolean;
  onClose: () => void;
  /** Skip: the person is not served it again. */
  onRelease: (reason: string, skip: boolean) => void;
  busy: boolean;
  skip: boolean;
}

/** Gives the task back; what was written stays for whoever holds it again: the same person only. */
export function ReleaseDialog({ opened, onClose, onRelease, busy, skip: proposed }: Props) {
  // On its way it cannot be called back: it would be released behind the back of who goes on.
  const close = () => !busy && onClose();
  return (
    <Modal opened={opened} onClose={close} title={proposed ? 'Skip this task' : 'Release this task'} centered>
      <Reason key={String(proposed)} proposed={proposed} onClose={close} onRelease={onRelease} busy={busy} />
    </Modal>
  );
}

function Reason(p: Omit<Props, 'opened' | 'skip'> & { proposed: boolean }) {
  const [reason, setReason] = useState('');
  const [skip, setSkip] = useState(p.proposed);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (!p.busy) p.onRelease(reason.trim(), skip);
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          The task goes back to the queue for others. Your draft is kept in case you claim it again.
        </Text>
        <Textarea
          label="Reason"
          description="Optional, for those who run the pipeline"
          value={reason}
          onChange={(e) => setReason(e.currentTarget.value)}
          maxLength={500}
          autosize
          minRows={2}
          data-autofocus
        />
        <Checkbox
          label="Do not give me this task again"
          checked={skip}
          onChange={(e) => setSkip(e.currentTarget.checked)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={p.onClose} disabled={p.busy}>
            Keep it
          </Button>
          <Button type="submit" loading={p.busy}>
            {skip ? 'Skip' : 'Release'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
