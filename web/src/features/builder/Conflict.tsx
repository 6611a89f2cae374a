import { Button, Group, Modal, Stack, Tabs, Text } from '@mantine/core';
import { IconGitFork } from '@tabler/icons-react';
import { useState } from 'react';
import type { Doc } from '@/pipeline/history';
import { Ago } from '@/ui/Ago';
import { Notice } from './Notice';
import { DiffView } from './publish/DiffView';
import { type Saved, same } from './state/draft';

interface Props {
  theirs: Saved;
  base: Saved;
  mine: Doc;
  /** The name of the person who looks at this. */
  me: string;
  onTake: () => void;
  onKeep: () => void;
}

/** Somebody else saved the draft meanwhile: nothing of either is lost before a person decided. */
export function Conflict({ theirs, base, mine, me, onTake, onKeep }: Props) {
  const [open, setOpen] = useState(false);
  const clean = same(base.doc, mine);
  const who = !theirs.by || theirs.by === me ? 'You (in another window)' : theirs.by;
  const choices = (
    <Group gap="xs">
      <Button size="compact-sm" onClick={onTake}>
        {clean ? 'Show the new draft' : 'Take theirs'}
      </Button>
      {!clean && (
        <Button size="compact-sm" variant="default" onClick={onKeep}>
          Keep mine, save over theirs
        </Button>
      )}
    </Group>
  );
  return (
    <>
      <Notice
        color="orange"
        variant="light"
        icon={<IconGitFork />}
        role="alert"
        title={
          <>
            {who} saved this draft {theirs.at && <Ago at={theirs.at} />}
          </>
        }
      >
        <Stack gap="xs">
          <Text size="sm">
            {clean
              ? 'You changed nothing since, so you can go on from there.'
              : 'Your changes since are kept here and not saved until you decide. Taking theirs can be undone.'}
          </Text>
          <Group gap="xs">
            <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
              See what changed
            </Button>
            {choices}
          </Group>
        </Stack>
      </Notice>
      <Modal opened={open} onClose={() => setOpen(false)} title="What changed" size="lg">
        <Stack>
          <Tabs defaultValue="theirs">
            <Tabs.List>
              <Tabs.Tab value="theirs">What they changed</Tabs.Tab>
              <Tabs.Tab value="mine">What you changed</Tabs.Tab>
              <Tabs.Tab value="between">Theirs against yours</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="theirs" pt="sm">
              <DiffView before={base.doc.definition} after={theirs.doc.definition} />
            </Tabs.Panel>
            <Tabs.Panel value="mine" pt="sm">
              <DiffView before={base.doc.definition} after={mine.definition} none="You changed nothing." />
            </Tabs.Panel>
            <Tabs.Panel value="between" pt="sm">
              <DiffView before={theirs.doc.definition} after={mine.definition} none="Both are the same." />
            </Tabs.Panel>
          </Tabs>
          {choices}
        </Stack>
      </Modal>
    </>
  );
}
