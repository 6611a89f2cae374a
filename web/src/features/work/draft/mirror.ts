import type { Values } from '@/fields/rules';

/** Which work it is: a draft belongs to a person, a task and its node, whatever claim they hold on it. */
export interface Place {
  user: number;
  task: number;
  node: string;
}

/** What this browser keeps of work, until it is handed in. */
export interface Kept {
  claimId: string;
  pipelineId: number;
  kind?: 'subtask' | 'review';
  /** The round of the node that it was written in, by roundOf. */
  round?: string;
  /** What the server does not have yet; absent when it has everything. */
  values?: Values;
  /** What was sent to be saved without an answer, where it is not the values themselves. */
  sent?: Values;
  /** The revision that the values were written on top of. */
  revision: number;
  /** Fields whose media was played to its end. */
  played?: string[];
  /** When it was written, in milliseconds. */
  at: number;
}

const prefix = 'taskloom.draft.';
/** Nobody comes back to a claim after this long; in milliseconds. */
const keptFor = 30 * 24 * 3600_000;

const keyOf = ({ user, task, node }: Place) => `${prefix}${user}.${task}.${node}`;

/**
 * The browser's copy of unfinished work. Written at every change and at once, so that neither a reload nor a dead
 * battery loses a letter; the server's copy follows.
 */
export class Mirror {
  /** What the storage refused for want of room is kept while the page is open. */
  private readonly spare = new Map<string, Kept>();

  constructor(private readonly storage: Storage | undefined) {}

  read(place: Place): Kept | undefined {
    const key = keyOf(place);
    return this.spare.get(key) ?? parse(this.get(key));
  }

  write(place: Place, kept: Kept) {
    const key = keyOf(place);
    this.spare.delete(key);
    const text = JSON.stringify(kept);
    if (this.set(key, text)) return;
    this.sweep(kept.at, true);
    if (!this.set(key, text)) this.spare.set(key, kept);
  }

  remove(place: Place) {
    const key = keyOf(place);
    this.spare.delete(key);
    try {
      this.storage?.removeItem(key);
    } catch {
      // Storage that cannot be used holds nothing.
    }
  }

  /** Where the person worked under a claim; undefined when this browser does not know it. */
  find(user: number, claimId: string): (Place & Kept) | undefined {
    for (const key of this.keys()) {
      const place = placeOf(key);
      const kept = place?.user === user ? parse(this.get(key)) : undefined;
      if (place && kept?.claimId === claimId) return { ...place, ...kept };
    }
    return undefined;
  }

  /** Forgets what is old; when room is needed, everything that the server has, too. */
  sweep(now: number, all = false) {
    for (const key of this.keys()) {
      const kept = parse(this.get(key));
      const old = !kept || now - kept.at > keptFor;
      const place = placeOf(key);
      if (place && (old || (all && !kept?.values))) this.remove(place);
    }
  }

  private keys(): string[] {
    try {
      const { storage } = this;
      const all = Array.from({ length: storage?.length ?? 0 }, (_, i) => storage?.key(i) ?? '');
      return all.filter((key) => key.startsWith(prefix));
    } catch {
      return [];
    }
  }

  private get(key: string): string | null {
    try {
      return this.storage?.getItem(key) ?? null;
    } catch {
      return null;
    }
  }

  private set(key: string, text: string): boolean {
    try {
      this.storage?.setItem(key, text);
      return this.storage !== undefined;
    } catch {
      return false;
    }
  }
}

function parse(text: string | null): Kept | undefined {
  try {
    const kept = JSON.parse(text ?? 'null');
    return typeof kept?.claimId === 'string' && typeof kept.revision === 'number' ? kept : undefined;
  } catch {
    return undefined;
  }
}

function placeOf(key: string): Place | undefined {
  const m = /^(\d+)\.(\d+)\.(.+)$/.exec(key.slice(prefix.length));
  return m ? { user: Number(m[1]), task: Number(m[2]), node: m[3] ?? '' } : undefined;
}

function browserStorage(): Storage | undefined {
  try {
    return window.localStorage;
  } catch {
    return undefined; // forbidden by the browser
  }
}

export const mirror = new Mirror(typeof window === 'undefined' ? undefined : browserStorage());
