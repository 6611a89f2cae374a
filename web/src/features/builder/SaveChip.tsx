import { Button, Group, Tooltip } from '@mantine/core';
import { useNow } from '@/lib/ticking';
import { ago } from '@/lib/time';
import { DotBadge } from './DotBadge';
import type { DraftControl } from './state/useDraft';

const looks = {
  saved: { color: 'teal', words: 'Saved', more: '' },
  unsaved: { color: 'gray', words: 'Not saved yet', more: 'It is saved a moment after you stop typing' },
  saving: { color: 'cyan', words: 'Saving…', more: 'On its way to the server' },
  offline: {
    color: 'orange',
    words: 'Offline',
    more: 'There is no connection. Your changes are kept in this browser and sent when it is back.',
  },
  conflict: { color: 'orange', words: 'Two drafts', more: 'Somebody else saved this draft: decide which one goes on' },
  refused: { color: 'red', words: 'Not saved', more: 'The server refused it; the reason stands below' },
} as const;

/** Whether the server has what is on the screen. */
export function SaveChip({ draft }: { draft: DraftControl }) {
  const now = useNow();
  const { color, words, more } = looks[draft.chip];
  const when =
    draft.chip === 'saved' && draft.savedAt ? ` ${ago(draft.savedAt, Math.max(now, Date.parse(draft.savedAt)))}` : '';
  return (
    <Group gap={6} role="status" aria-live="polite">
      <Tooltip label={draft.chip === 'saved' ? `The server has this draft${when && `, saved${when}`}` : more}>
        <DotBadge color={color} size="lg">
          {words}
        </DotBadge>
      </Tooltip>
      {(draft.chip === 'refused' || draft.chip === 'offline') && (
        <Button size="compact-xs" variant="default" onClick={() => void draft.flush()}>
          Try again
        </Button>
      )}
    </Group>
  );
}
