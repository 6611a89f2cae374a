import { Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle, IconLock } from '@tabler/icons-react';
import type { Field } from '@/api';
import { equal, fieldLabel } from '@/fields/rules';
import { Note } from '@/ui/Note';
import { WordDiff } from '@/ui/WordDiff';
import type { Draft } from './draft/useDraft';

/** The two versions of a draft that was saved elsewhere, and the choice between them. */
export function ConflictNote({ draft, fields }: { draft: Draft; fields: readonly Field[] }) {
  if (draft.phase !== 'conflict' || !draft.theirs) return null;
  const { values: theirs } = draft.theirs;
  const differing = fields.filter((f) => !equal(theirs[f.name], draft.values[f.name]));
  return (
    <Note
      color="red"
      icon={<IconAlertTriangle />}
      title={draft.aside ? 'This was written in another tab, too' : 'This was saved somewhere else, too'}
      role="alert"
    >
      <Stack gap="sm">
        <Text size="sm">
          {draft.aside
            ? 'Another tab of this browser has other answers, which were not saved. Nothing is overwritten before you choose: what stands in this form, or what was written there.'
            : 'Another tab or device saved other answers since. Nothing is overwritten before you choose: what stands in this form, or what was saved there.'}
        </Text>
        {differing.slice(0, 8).map((f) => (
          <div key={f.name}>
            <Text size="sm" fw={600}>
              {fieldLabel(f)}: there, then here
            </Text>
            <WordDiff before={theirs[f.name]} after={draft.values[f.name]} />
          </div>
        ))}
        <Group gap="xs">
          <Button size="xs" onClick={() => void draft.resolve('mine')}>
            Keep what is here
          </Button>
          <Button size="xs" variant="default" onClick={() => void draft.resolve('theirs')}>
            Take what was {draft.aside ? 'written' : 'saved'} there
          </Button>
        </Group>
      </Stack>
    </Note>
  );
}

/** The same task is open twice in this browser. */
export function OtherTabNote({ draft }: { draft: Draft }) {
  if (!draft.otherTab || draft.doneElsewhere) return null;
  return (
    <Note color="blue" icon={<IconInfoCircle />} role="status">
      This task is open in another tab as well. Both show the same answers: what you type here shows there, and the last
      change counts.
    </Note>
  );
}

/** It was handed in, or given back, from another tab. */
export function DoneElsewhereNote({ draft, onLeave }: { draft: Draft; onLeave: () => void }) {
  if (!draft.doneElsewhere) return null;
  return (
    <Note color="blue" icon={<IconInfoCircle />} title="Done in another tab" role="alert">
      <Group gap="sm">
        <Text size="sm">This task was submitted or released in another tab.</Text>
        <Button size="xs" onClick={onLeave}>
          Go to the queue
        </Button>
      </Group>
    </Note>
  );
}

interface LostProps {
  message?: string;
  onClaim: () => void;
  claiming: boolean;
  /** Why claiming again did not work. */
  refusal?: string;
}

/** The claim is over: what was written is still here, and the task may be had again. */
export function LostNote({ message, onClaim, claiming, refusal }: LostProps) {
  return (
    <Note color="orange" icon={<IconLock />} title="This task is no longer yours" role="alert">
      <Stack gap="sm">
        <Text size="sm">
          {message ? `${message.charAt(0).toUpperCase()}${message.slice(1)}. ` : 'Your time for it ran out. '}
          Everything that you wrote is kept.
        </Text>
        {refusal && (
          <Text size="sm" fw={600}>
            {refusal}
          </Text>
        )}
        <Group>
          <Button size="xs" onClick={onClaim} loading={claiming}>
            Claim it again
          </Button>
        </Group>
      </Stack>
    </Note>
  );
}
