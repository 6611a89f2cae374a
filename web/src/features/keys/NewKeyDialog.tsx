import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import type { NewKey } from '@/api';
import { Copy } from '@/ui/Copy';
import { Snippet } from '@/ui/Snippet';
import { curlOf } from './expiry';
import classes from './NewKeyDialog.module.css';

interface Props {
  created: NewKey;
  /** For the snippet: a pipeline that the key can reach. */
  pipelineId: number | undefined;
  close: () => void;
}

/** The only time that a key's value is shown. It closes only on the word that it is stored. */
export function NewKeyDialog({ created, pipelineId, close }: Props) {
  const [stored, setStored] = useState(false);
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={`The key “${created.name}”`}
      size="lg"
    >
      <Stack gap="md">
        <Alert color="yellow" variant="light" py="xs">
          This is the only time that the key is shown. Who loses it revokes it and creates another.
        </Alert>
        <div className={classes.value}>
          <code className={classes.key} data-testid="key">
            {created.value}
          </code>
          <Copy text={created.value} what="the key" labelled />
        </div>
        <div>
          <Text size="sm" mb={6}>
            Try it{pipelineId === undefined ? ' with the id of a pipeline in place of WORKFLOW_ID' : ''}:
          </Text>
          <Snippet text={curlOf(created.value, window.location.origin, pipelineId)} what="the command" />
        </div>
        <Group justify="space-between" gap="sm">
          <Checkbox
            label="I stored it"
            checked={stored}
            onChange={(e) => setStored(e.currentTarget.checked)}
            data-autofocus
          />
          <Button disabled={!stored} onClick={close}>
            Close
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
