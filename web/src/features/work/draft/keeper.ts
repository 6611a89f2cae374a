import { type APIError, asAPIError } from '@/api';
import { equal, type Values } from '@/fields/rules';
import { atMost } from '@/lib/atMost';

/** A draft as the server has it. */
export interface Stored {
  values: Values;
  /** Counts saves; 0 for none, and less for one that no draft of the server can have. */
  revision: number;
}

/** What this browser had not brought to the server when it last closed. */
export interface Unsaved extends Stored {
  /** A save of these had no answer then: the server may have done it. */
  sent?: Values;
}

/** What another page of this browser wrote and did not bring to the server. */
export interface Aside {
  values: Values;
  /** It is decided: forget it. */
  drop: () => void;
}

/**
 * saved     the server has everything
 * dirty     it will be saved in a moment
 * saving    on its way
 * offline   no answer; tried again by itself
 * conflict  it was saved elsewhere since: the person chooses
 * over      the claim is over; what was written is kept here
 * refused   the server does not take it as it is
 */
export type Phase = 'saved' | 'dirty' | 'saving' | 'offline' | 'conflict' | 'over' | 'refused';

export interface DraftState {
  values: Values;
  phase: Phase;
  /** When the server had everything, in milliseconds; 0 when it never did. */
  savedAt: number;
  /** With conflict: what was saved elsewhere. */
  theirs?: Stored;
  /** With conflict: theirs was never saved; another page of this browser left it. */
  aside?: boolean;
  /** With over and refused: the server's words. */
  message?: string;
}

/** What a keeper needs of the world. */
export interface Port {
  /** Answers with the new revision. Throws an APIError. */
  save: (values: Values, revision: number) => Promise<number>;
  /** The newest draft of the server; null for none. Throws an APIError, 409 or 404 when the claim is over. */
  load: () => Promise<Stored | null>;
  /** Keeps what the server does not have, in this browser; nothing with undefined. `sent` is as in Unsaved. */
  keep: (values: Values | undefined, revision: number, sent?: Values) => void;
  /** Tells the other tabs. */
  saved?: (revision: number) => void;
}

/** A save waits for a pause in the typing, in milliseconds, … */
const pause = 800;
/** … but not longer than this. */
const patience = 5_000;
/** Tries while offline: after 1, 2, 4 … seconds, at most every 30. */
const retryMost = 30_000;
/** As long does a hand-in wait for the answer to a save, in milliseconds: a connection may hang for minutes. */
const answerMost = 10_000;
/** As many saves without an answer are remembered. */
const unansweredMost = 20;

/** Keeps one draft: every change here at once, on the server soon, never over what somebody else saved. */
export class DraftKeeper {
  private state: DraftState;
  private revision: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dirtySince = 0;
  private failures = 0;
  /** Saves without an answer, one on its way included: the server may have done one of them. */
  private unanswered: Values[] = [];
  /** Something is handed in: a save beside it would make its revision an old one. */
  private handingIn = false;
  /** A hand-in may have been done: it is sent again as it was, with no newer revision than the person knew of then. */
  private unsettled = false;
  /** The newest draft that the server told of meanwhile. */
  private heard: Stored | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;
  /** Its page is gone: nothing is tried for long any more. */
  private left = false;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly port: Port,
    stored: Stored | null,
    kept: Unsaved | undefined,
    initial: Values,
    private readonly asides: Aside[] = [],
  ) {
    const server = stored ?? { values: initial, revision: 0 };
    this.revision = server.revision;
    this.state = { values: server.values, phase: 'saved', savedAt: stored?.revision ? Date.now() : 0 };
    if (!kept || equal(kept.values, server.values)) {
      this.port.keep(undefined, this.revision);
    } else {
      this.unanswered = kept.sent ? [kept.sent, kept.values] : [kept.values];
      this.state = { ...this.state, values: kept.values };
      const onTop = kept.revision === server.revision || this.isOwn(server);
      if (!onTop) this.revision = kept.revision; // kept with the other one, the choice would be gone after a reload
      this.keep(kept.values);
      if (onTop) this.later();
      else this.set({ phase: 'conflict', theirs: server });
    }
    this.offer();
  }

  get = (): DraftState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  /** The person changed something. */
  edit(values: Values) {
    if (this.stopped) return;
    this.keep(values);
    const { phase } = this.state;
    this.set({ values });
    if (phase !== 'conflict' && phase !== 'over') this.later();
  }

  /** Saves now what is not saved yet, also what is written meanwhile; gives up when a save fails. The phase tells. */
  async flush(): Promise<void> {
    do {
      if (this.stopped || this.handingIn || ['saved', 'conflict', 'over'].includes(this.state.phase)) return;
      this.cancel();
      await this.run(); // which may be a save of before the last change: then it is dirty again
    } while (this.state.phase === 'dirty');
  }

  /** Decides a conflict: what stands here, or what was saved elsewhere. */
  async resolve(choice: 'mine' | 'theirs'): Promise<void> {
    const { theirs, aside } = this.state;
    if (this.state.phase !== 'conflict' || !theirs) return;
    if (aside) return this.settleAside(choice === 'theirs' ? theirs.values : this.state.values);
    this.revision = theirs.revision;
    this.unanswered = [];
    if (choice === 'theirs') {
      this.keep(undefined);
      this.set({ values: theirs.values, phase: 'saved', theirs: undefined, savedAt: Date.now() });
    } else {
      this.keep(this.state.values);
      this.set({ phase: 'dirty', theirs: undefined });
      await this.flush();
    }
    this.offer();
  }

  /**
   * Hands in by send, which gets the revision that this page knows: with it, the server takes no draft away that the
   * person has not seen here. What this page saved itself without hearing so is no reason for a refusal; what somebody
   * else saved is a conflict, for the person to decide before they hand in again. `words` are the values that go out,
   * where they are not all that stands here.
   */
  async handIn<T>(send: (revision: number) => Promise<T>, words = this.state.values): Promise<T> {
    this.handingIn = true;
    this.cancel();
    try {
      await this.answered();
      const sent = this.revision;
      try {
        return await send(sent);
      } catch (cause) {
        if (asAPIError(cause).status !== 409 || !(await this.caughtUp(sent, words))) throw cause;
        return await send(this.revision);
      }
    } catch (cause) {
      this.handingIn = false;
      const err = asAPIError(cause);
      if (!err.transient) this.settle();
      else if (err.status !== 429) this.unsettled = true; // a 429 was refused before anything was done
      if (this.left) void this.lastTry();
      else if (['dirty', 'offline'].includes(this.state.phase)) this.later();
      throw cause;
    }
  }

  /** A hand-in without an answer is not sent again: the person goes on, and sees what was saved elsewhere meanwhile. */
  settle() {
    const { heard } = this;
    this.unsettled = false;
    this.heard = undefined;
    if (!heard || heard.revision <= this.revision || this.stopped || this.running || this.state.phase === 'over')
      return;
    this.meet(heard);
  }

  /** The server told what it has, which may be newer than what this page knows. */
  seen(stored: Stored | null) {
    if (!stored || this.stopped || this.handingIn || this.running || this.state.phase === 'over') return;
    if (this.unsettled) {
      this.heard = stored;
      return;
    }
    const known = this.state.theirs?.revision ?? this.revision;
    if (stored.revision <= known) return;
    if (this.state.phase !== 'saved') {
      this.meet(stored);
      this.offer();
      return;
    }
    // Nothing was written here since: this page follows.
    this.revision = stored.revision;
    this.set({ values: stored.values, savedAt: Date.now() });
  }

  /** Another tab saved: what stands here follows, unless something was written here, too. */
  async changedElsewhere(revision: number): Promise<void> {
    if (this.stopped || revision <= this.revision || this.state.phase !== 'saved') return;
    this.seen(await this.port.load().catch(() => null));
  }

  /** The page is left: one more try to save. What the server does not get stays in this browser, for the next page. */
  leave() {
    this.left = true;
    void this.lastTry();
  }

  /** Takes leave back: React's strict mode leaves every page once and comes back in the same breath. */
  stay() {
    this.left = false;
  }

  /** Was handed in or given back: nothing is saved any more. */
  stop() {
    this.stopped = true;
    this.cancel();
  }

  private async lastTry() {
    await this.flush();
    // A hand-in that is on its way comes here again when it fails.
    if (this.left && !this.handingIn) this.stop();
  }

  /** Lets the person choose between what stands here and what another page left, one after the other. */
  private offer() {
    while (this.asides[0] && equal(this.asides[0].values, this.state.values)) this.asides.shift()?.drop();
    const [next] = this.asides;
    if (!next || this.state.phase === 'conflict' || this.state.phase === 'over') return;
    this.cancel();
    this.set({ phase: 'conflict', theirs: { values: next.values, revision: this.revision }, aside: true });
  }

  private async settleAside(values: Values): Promise<void> {
    this.keep(values);
    this.asides.shift()?.drop();
    this.set({ values, phase: 'dirty', theirs: undefined, aside: undefined });
    await this.flush();
    this.offer();
  }

  private set(change: Partial<DraftState>) {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  private later() {
    if (this.stopped) return;
    const now = Date.now();
    if (this.dirtySince === 0) this.dirtySince = now;
    if (this.state.phase !== 'saving') this.set({ phase: this.failures > 0 ? 'offline' : 'dirty', message: undefined });
    if (this.running || this.handingIn) return; // it looks again when that is done
    if (this.failures > 0) this.retry();
    else this.wait(Math.max(0, Math.min(pause, this.dirtySince + patience - now)));
  }

  /** A change does not put off a try that is due already: who goes on writing would never be saved. */
  private retry() {
    if (this.timer === undefined) this.wait(this.backoff());
  }

  private wait(ms: number) {
    this.cancel();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.run();
    }, ms);
  }

  private cancel() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private backoff(): number {
    return Math.min(retryMost, 1000 * 2 ** (this.failures - 1));
  }

  /** One save at a time, in order. */
  private run(): Promise<void> {
    this.running ??= this.save().finally(() => {
      this.running = undefined;
      if (!this.stopped && this.state.phase === 'dirty') this.later();
    });
    return this.running;
  }

  private async save(): Promise<void> {
    const { values } = this.state;
    this.dirtySince = 0;
    this.unanswered = [...this.unanswered, values].slice(-unansweredMost);
    this.set({ phase: 'saving' });
    try {
      this.revision = await this.port.save(values, this.revision);
    } catch (err) {
      await this.failed(err);
      return;
    }
    this.failures = 0;
    this.unanswered = [];
    if (this.stopped) return;
    this.port.saved?.(this.revision);
    const done = this.state.values === values;
    this.keep(done ? undefined : this.state.values);
    this.set({ phase: done ? 'saved' : 'dirty', savedAt: Date.now() });
  }

  private keep(values: Values | undefined) {
    this.port.keep(values, this.revision, this.unanswered.at(-1));
  }

  private async failed(cause: unknown): Promise<void> {
    const err = asAPIError(cause);
    if (this.stopped) return;
    if (err.transient) {
      this.failures++;
      this.set({ phase: 'offline' });
      this.retry();
    } else if (err.status === 409) {
      await this.reload();
    } else {
      this.set({ phase: err.status === 404 ? 'over' : 'refused', message: err.message });
    }
  }

  /** The server has another revision, or the claim is over: which one does loading tell. */
  private async reload(): Promise<void> {
    let stored: Stored | null;
    try {
      stored = await this.port.load();
    } catch (cause) {
      const err = asAPIError(cause);
      if (err.transient) await this.failed(cause);
      else this.set({ phase: 'over', message: err.message });
      return;
    }
    this.meet(stored ?? { values: {}, revision: 0 });
  }

  /** The save that is on its way has its answer, or had long enough: the server looks at the revision all the same. */
  private async answered(): Promise<void> {
    if (this.running) await atMost(answerMost, this.running);
  }

  /** After a refused hand-in: whether the server has another draft than it was sent with, and it is this page's own. */
  private async caughtUp(sent: number, words: Values): Promise<boolean> {
    let stored: Stored | null;
    try {
      stored = await this.port.load();
    } catch (cause) {
      this.refusedLate(asAPIError(cause), words);
      return false;
    }
    if (!stored || stored.revision === sent) return false;
    // A save that is answered only now brought this page there already.
    if (stored.revision !== this.revision) this.meet(stored);
    return this.state.phase !== 'conflict';
  }

  /**
   * A hand-in was refused, and its claim is over or cannot be asked for. The server keeps what came too late as the
   * draft, but not over what was saved or handed in since: so it is kept here, until the task is had again.
   */
  private refusedLate(err: APIError, words: Values) {
    this.unanswered = [...this.unanswered, words].slice(-unansweredMost);
    this.keep(this.state.values);
    if (!err.transient) this.set({ phase: 'over', message: err.message });
    else if (this.state.phase === 'saved') this.set({ phase: 'dirty' });
  }

  /** Deals with another revision than this page knew. */
  private meet(theirs: Stored) {
    this.cancel();
    const same = equal(theirs.values, this.state.values);
    if (!same && !this.isOwn(theirs)) {
      this.unsettled = false; // the server refuses what was handed in before this
      this.heard = undefined;
      this.set({ phase: 'conflict', theirs, aside: undefined });
      return;
    }
    this.revision = theirs.revision;
    this.failures = 0;
    this.unanswered = [];
    this.keep(same ? undefined : this.state.values);
    this.set({
      phase: same ? 'saved' : 'dirty',
      theirs: undefined,
      aside: undefined,
      ...(same ? { savedAt: Date.now() } : {}),
    });
    if (!same) this.later(); // what is written since goes on top
  }

  /** Nobody else saved it: it was this page, whose answer got lost. */
  private isOwn(stored: Stored): boolean {
    return this.unanswered.some((values) => equal(values, stored.values));
  }
}
