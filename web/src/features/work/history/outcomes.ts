import type { Done } from '@/api';

interface Look {
  text: string;
  color: string;
  about: string;
}

/** What became of a submission, in words. */
export const outcomes: Record<Done['outcome'], Look> = {
  waiting: { text: 'Waiting', color: 'cyan', about: 'It is not final yet: a review, or another step, comes first.' },
  accepted: { text: 'Accepted', color: 'teal', about: 'A reviewer approved it.' },
  fixed: { text: 'Accepted with changes', color: 'teal', about: 'A reviewer corrected something and approved it.' },
  returned: { text: 'Sent back', color: 'orange', about: 'It had to be done again.' },
  finished: { text: 'Finished', color: 'teal', about: 'It is final; nobody had to review it.' },
  undone: { text: 'Taken back', color: 'gray', about: 'You took it back.' },
  escalated: { text: 'With an admin', color: 'orange', about: 'An admin of the project decides.' },
  closed: { text: 'Closed', color: 'gray', about: 'The task went on, or ended, without it.' },
};

export const verdicts: Record<string, string> = {
  approve: 'Accepted',
  reject: 'Sent back',
  escalate: 'Escalated',
};
