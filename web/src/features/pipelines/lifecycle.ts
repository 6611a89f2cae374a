import type { Counts, Pipeline } from '@/api';

/** What an admin can do to a pipeline as a whole; publishing belongs to the builder. */
export type Verb = 'pause' | 'resume' | 'complete' | 'reopen' | 'archive' | 'unarchive';

type Status = Pipeline['status'];

/** From which statuses each verb works, as the server has it. */
const from: Record<Verb, Status[]> = {
  pause: ['ACTIVE'],
  resume: ['PAUSED'],
  complete: ['ACTIVE', 'PAUSED'],
  reopen: ['COMPLETED'],
  archive: ['DRAFT', 'PAUSED', 'COMPLETED'],
  unarchive: ['ARCHIVED'],
};

export const verbLabels: Record<Verb, string> = {
  pause: 'Pause',
  resume: 'Resume',
  complete: 'Complete',
  reopen: 'Reopen',
  archive: 'Archive',
  unarchive: 'Take out of the archive',
};

/** The verbs that work now, the most likely first. */
export function verbsFor(status: Status): Verb[] {
  return (Object.keys(from) as Verb[]).filter((v) => from[v].includes(status));
}

/** Verbs that take work away from people, hence are marked as such. */
export function isDangerous(verb: Verb): boolean {
  return verb === 'complete' || verb === 'archive';
}

/** "1 task", "1,204 tasks". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/**
 * Why the verb cannot be done now, though the status allows it, as far as the counts tell: the server waits for the end
 * of uploads, too.
 */
export function obstacle(verb: Verb, { open }: Pick<Counts, 'open'>): string | undefined {
  if (verb !== 'complete' || open === 0) return undefined;
  return `It still has ${count(open, 'open task')}: finish or fail ${open === 1 ? 'it' : 'them'} first.`;
}

/** What is escalated or set aside waits for an admin, not for the pipeline: only what can move shows as paused. */
function pausing(c: Pick<Counts, 'open' | 'escalated' | 'quarantined'>): string {
  if (c.open === 0) return 'No task is open now.';
  if (c.escalated + c.quarantined === 0) return `${count(c.open, 'open task')} will show as paused.`;
  return 'Open tasks will show as paused, but for those that are escalated or set aside.';
}

/** What the verb will mean where nothing is in its way, in numbers: one sentence a line. */
export function consequences(
  verb: Verb,
  c: Pick<Counts, 'available' | 'claimed' | 'in_review' | 'open' | 'escalated' | 'quarantined'>,
) {
  const waiting = c.available + c.in_review;
  const people = [
    waiting > 0 && `${count(waiting, 'piece')} of work ${waiting === 1 ? 'leaves' : 'leave'} the queues.`,
    c.claimed > 0 &&
      `${count(c.claimed, 'piece')} of work ${c.claimed === 1 ? 'is' : 'are'} being done now: who holds one can still hand it in.`,
  ];
  const open = `${count(c.open, 'open task')}`;
  const lines: Record<Verb, (string | false)[]> = {
    pause: [
      `Nobody can claim work until you resume. ${pausing(c)}`,
      ...people,
      'New tasks can still be created; they wait.',
      c.open > 0 && 'Time limits run on: a step that is not handed in by its limit escalates meanwhile.',
    ],
    resume: [
      waiting > 0 ? `${count(waiting, 'piece')} of work can be claimed again.` : 'Work can be claimed again.',
      c.open > 0 && `${open} ${c.open === 1 ? 'goes' : 'go'} on, but for what escalated.`,
    ],
    complete: [
      'No new tasks can be created and nothing can be claimed.',
      'Every task is over; nothing is left undone.',
    ],
    reopen: ['Tasks can be created and work can be claimed again.'],
    archive: [
      'The pipeline leaves everybody’s lists. Nothing is deleted; you can take it out of the archive again.',
      c.open > 0 && `${open} will stay unfinished.`,
      ...people,
    ],
    unarchive: [
      'The pipeline comes back paused (a draft comes back as a draft).',
      c.open > 0 && `${open} ${c.open === 1 ? 'waits' : 'wait'} until you resume it.`,
    ],
  };
  return lines[verb].filter((l): l is string => Boolean(l));
}
