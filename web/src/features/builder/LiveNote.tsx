import { Anchor, Group, Modal, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DiffView, useChanges } from './publish/DiffView';
import type { Draft } from './queries';
import { useBuilder } from './state/context';

/** The draft beside the live version: how far they are apart, and what that is. */
export function LiveNote({ polled }: { polled: Draft }) {
  const { id, doc } = useBuilder();
  const [open, setOpen] = useState(false);
  const changes = useChanges(polled.version > 0 ? polled.live : null, doc.definition);
  const versions = (
    <Anchor component={Link} size="sm" to={`/pipelines/${id}/versions`}>
      Versions
    </Anchor>
  );
  if (polled.version === 0) {
    return (
      <Text size="sm" c="dimmed">
        A draft that was never published: nobody works on it yet.
      </Text>
    );
  }
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        New tasks get version {polled.version}.{' '}
        {changes === 0
          ? 'This draft is the same.'
          : `This draft has ${changes} ${changes === 1 ? 'change' : 'changes'} that nobody works with yet.`}
      </Text>
      {changes > 0 && (
        <Anchor component="button" type="button" size="sm" onClick={() => setOpen(true)}>
          See them
        </Anchor>
      )}
      {versions}
      <Modal opened={open} onClose={() => setOpen(false)} title={`Draft against version ${polled.version}`} size="lg">
        <DiffView before={polled.live} after={doc.definition} />
      </Modal>
    </Group>
  );
}
