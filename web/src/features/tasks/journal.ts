import type { TaskEvent, TaskSubmission } from '@/api';
import { fixes } from './values';

/** How the journal's ids are called: people, and nodes by their titles. */
export interface Names {
  person: (id: number) => string;
  node: (key: string) => string;
}

/** One journal row in plain words. */
export interface Told {
  seq: number;
  at: string;
  /** Who did it; "Taskloom" for timers and automation. */
  who: string;
  /** Null when nobody did it. */
  actor: number | null;
  text: string;
  reason: string;
  tone: 'plain' | 'good' | 'bad' | 'warn';
}

/** Reasons that the system writes itself, in words. */
const reasons: Record<string, string> = {
  max_rework: 'it was rejected more often than the pipeline allows',
  no_route: 'no way on from here applies to its answers',
  sla: 'it was not handed in within its time limit',
  reviewer: 'a reviewer asked for an admin',
  automation: 'the automatic part failed',
  person: '',
  nothing_to_return: 'there was nothing to return the rejection to',
  skipped: 'an admin skipped it',
  prepared: 'it is being prepared',
  handed_in: 'it was handed in, but the task takes another way now',
  handed_in_unseen: 'it was handed in, but the task takes another way now',
  lease: 'the time to work on it ran out',
};

/** A reason as people read it: the system's in words, a person's as written. */
export function reasonText(reason: string): string {
  return reasons[reason] ?? reason;
}

/**
 * Tells one row of the journal, beside what was handed in on the task: the journal itself holds no answers, and so no
 * corrections. Kinds that are not known yet keep their own name rather than vanish.
 */
export function tell(e: TaskEvent, names: Names, handedIn: readonly TaskSubmission[] = []): Told {
  const node = e.node ? names.node(e.node) : 'the task';
  const round = e.iteration > 1 ? ` (round ${e.iteration})` : '';
  const told: Told = {
    seq: e.seq,
    at: e.at,
    actor: e.actor,
    who: e.actor === null ? 'Taskloom' : names.person(e.actor),
    text: '',
    reason: reasonText(e.reason),
    tone: 'plain',
  };
  const say = (text: string, tone: Told['tone'] = 'plain'): Told => ({ ...told, text, tone });
  switch (e.kind) {
    case 'create':
      return say('created the task');
    case 'claim':
      return say(`claimed ${node}${round}`);
    case 'release':
      return say(`gave ${node} back to the queue`);
    case 'submit':
      return say(`handed in ${node}${round}`, 'good');
    case 'undo':
      return say(`took back what they handed in at ${node}`, 'warn');
    case 'review':
      return review(e, handedIn, node, round, say);
    case 'escalate':
      return say(`escalated ${node} to the project’s admins`, 'warn');
    case 'quarantine':
      return say(`quarantined ${node}`, 'bad');
    case 'resolve':
      return resolve(e.outcome, node, say);
    case 'hold':
      return say('put the task on hold', 'warn');
    case 'unhold':
      return say('took the task off hold');
    case 'fail':
      return say('cancelled the task: it counts as failed', 'bad');
    case 'expire':
      return say(`took ${node} back: the time to work on it ran out`, 'warn');
    case 'auto':
      return e.outcome === 'failed'
        ? say(`could not prepare ${node}`, 'bad')
        : say(`prepared ${node}: its automatic fields are filled`);
    case 'priority':
      return say(e.outcome ? `set the priority to ${e.outcome}` : 'changed the priority');
    default:
      return say([spacedKind(e.kind), e.node && `on ${node}`, e.outcome && `(${e.outcome})`].filter(Boolean).join(' '));
  }
}

type Say = (text: string, tone?: Told['tone']) => Told;

function review(e: TaskEvent, handedIn: readonly TaskSubmission[], node: string, round: string, say: Say): Told {
  const { outcome } = e;
  if (outcome === 'approved') {
    const fixed = handedIn.some((s) => s.node === e.node && s.iteration === e.iteration && fixes(s));
    return say(`${fixed ? 'fixed and ' : ''}accepted the work at ${node}${round}`, 'good');
  }
  if (outcome === 'rejected') return say(`rejected the work at ${node}${round}: it goes back`, 'bad');
  if (outcome === 'escalated') return say(`escalated ${node}${round} to the project’s admins`, 'warn');
  return say(`gave a verdict at ${node}${round}`);
}

function resolve(outcome: string, node: string, say: Say): Told {
  if (outcome === 'requeue') return say(`put ${node} back into the queue`);
  if (outcome === 'accept') return say(`accepted ${node} as it is`, 'good');
  if (outcome === 'skip') return say(`let the task go on without ${node}`, 'warn');
  return say(`resolved ${node}`);
}

function spacedKind(kind: string): string {
  return kind.replaceAll('_', ' ');
}
