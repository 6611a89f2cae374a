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

/** No node's key has an @. Without a page it is what browsers kept before pages were told apart. */
const keyOf = ({ user, task, node }: Place, page: string) => `${prefix}${user}.${task}.${node}${page && '@'}${page}`;

/** What one page keeps of a place. */
export interface Entry extends Kept {
  page: string;
}

/**
 * The browser's copy of unfinished work. Written at every change and at once, so that neither a reload nor a dead
 * battery loses a letter; the server's copy follows. Each page has its own entry of a place: what another tab wrote and
 * has not saved is not this one's to write over. A page that opens a place takes over what pages that are gone left.
 */
export class Mirror {
  /** What the storage refused for want of room is kept while the page is open. */
  private readonly spare = new Map<string, Kept>();

  constructor(private readonly storage: Storage | undefined) {}

  /** The newest that the server does not have, else the newest. */
  read(place: Place): Entry | undefined {
    const all = this.all(place);
    return all.find((e) => e.values) ?? all[0];
  }

  /** What all pages keep of a place, newest first. */
  all(place: Place): Entry[] {
    const start = keyOf(place, '');
    const entries: Entry[] = [];
    for (const key of new Set([...this.keys(), ...this.spare.keys()])) {
      if (key !== start && !key.startsWith(`${start}@`)) continue;
      const kept = this.spare.get(key) ?? parse(this.get(key));
      if (kept) entries.push({ ...kept, page: key.slice(start.length + 1) });
    }
    return entries.sort((a, b) => b.at - a.at);
  }

  write(place: Place, kept: Kept, page = '') {
    const key = keyOf(place, page);
    this.spare.delete(key);
    const text = JSON.stringify(kept);
    if (this.set(key, text)) return;
    this.sweep(kept.at, true);
    if (!this.set(key, text)) this.spare.set(key, kept);
  }

  /** Forgets an entry, unless its page wrote it anew since: that page is alive, and it is not known here what it says. */
  drop(place: Place, entry: Entry) {
    const now = this.all(place).find((e) => e.page === entry.page);
    if (now?.at === entry.at) this.remove(place, entry.page);
  }

  remove(place: Place, page = '') {
    this.forget(keyOf(place, page));
  }

  private forget(key: string) {
    this.spare.delete(key);
    try {
      this.storage?.removeItem(key);
    } catch {
      // Storage that cannot be used holds nothing.
    }
  }

  /** Where the person worked under a claim; undefined when this browser does not know it. */
  find(user: number, claimId: string): (Place & Kept) | undefined {
    let found: (Place & Kept) | undefined;
    for (const key of this.keys()) {
      const place = placeOf(key);
      const kept = place?.user === user ? parse(this.get(key)) : undefined;
      if (place && kept?.claimId === claimId && !found?.values) found = { ...place, ...kept };
    }
    return found;
  }

  /** Forgets what is old; when room is needed, everything that the server has, too. */
  sweep(now: number, all = false) {
    for (const key of this.keys()) {
      const kept = parse(this.get(key));
      const old = !kept || now - kept.at > keptFor;
      if (placeOf(key) && (old || (all && !kept?.values))) this.forget(key);
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
  const m = /^(\d+)\.(\d+)\.([^@]+)(@|$)/.exec(key.slice(prefix.length));
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
