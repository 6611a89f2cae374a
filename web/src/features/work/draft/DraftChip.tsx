import { Text } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCloudOff,
  IconDeviceFloppy,
  IconLock,
  IconRefresh,
} from '@tabler/icons-react';
import { useNow } from '@/lib/ticking';
import classes from './DraftChip.module.css';
import type { DraftState, Phase } from './keeper';

const looks: Record<Phase, { icon: typeof IconRefresh; text: string; hint: string }> = {
  saved: { icon: IconCircleCheck, text: 'Saved', hint: 'The server has everything that you wrote.' },
  dirty: { icon: IconDeviceFloppy, text: 'Saving…', hint: 'Kept in this browser; the server gets it in a moment.' },
  saving: { icon: IconRefresh, text: 'Saving…', hint: 'Kept in this browser; the server gets it now.' },
  offline: {
    icon: IconCloudOff,
    text: 'Offline, kept here',
    hint: 'The server cannot be reached. Go on: what you write is kept in this browser and sent when it is back.',
  },
  conflict: { icon: IconAlertTriangle, text: 'Two versions', hint: 'It was saved elsewhere, too. Choose below.' },
  over: { icon: IconLock, text: 'Kept here', hint: 'The claim is over; what you wrote is kept in this browser.' },
  refused: { icon: IconAlertTriangle, text: 'Not saved', hint: 'The server does not take the draft as it is.' },
};

/** A review's comments, which the server gets with the verdict only. */
const commentsHere = {
  icon: IconDeviceFloppy,
  text: 'Comments are kept in this browser until you hand in',
  hint: 'The server has your corrections. Your verdicts and comments at the fields go there with Accept or Reject.',
};

/** Where what was written is: on the server, on its way, or only here. */
export function DraftChip({ state, comments = false }: { state: DraftState; comments?: boolean }) {
  const now = useNow();
  const here = comments && state.phase === 'saved';
  const look = here ? commentsHere : looks[state.phase];
  const untouched = state.phase === 'saved' && state.savedAt === 0 && !here;
  const seconds = (now - state.savedAt) / 1000;
  const since =
    state.savedAt > 0 && state.phase === 'saved' && !here && seconds > 60 ? ` ${Math.floor(seconds / 60)} min ago` : '';
  return (
    <span
      className={classes.chip}
      data-phase={state.phase}
      data-long={here || undefined}
      title={state.message ?? look.hint}
    >
      <look.icon size={16} aria-hidden="true" />
      <Text span size="sm" role="status">
        {untouched ? 'Saves by itself' : look.text}
        {since}
      </Text>
    </span>
  );
}
