import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { body, getClaim, reachable, saveDraft, type Work } from '@/api';
import { beforeLeaving } from '@/features/session/unsent';
import { equal, type Values } from '@/fields/rules';
import { workQuery } from '../queries';
import { roundOf } from '../round';
import { DraftKeeper, type DraftState, type Port, type Stored } from './keeper';
import { type Entry, type Kept, mirror, type Place } from './mirror';
import { type SeenDraft, withSeen } from './seenDraft';
import { useTabs } from './tabs';

export interface Draft extends DraftState {
  /** Sets one answer; undefined takes it back. */
  set: (name: string, value: unknown) => void;
  flush: () => Promise<void>;
  resolve: (choice: 'mine' | 'theirs') => Promise<void>;
  /** Hands in by send, with the revision of the draft that it takes away; see DraftKeeper. */
  handIn: <T>(send: (seen: SeenDraft) => Promise<T>, words?: Values) => Promise<T>;
  /** What was handed in without an answer is not sent again. */
  settle: () => void;
  /** It was handed in: forget it, here and in other tabs. */
  finish: () => void;
  /** It was given back, or another tab was done with it: here stays what the server does not have. */
  giveBack: () => void;
  played: ReadonlySet<string>;
  setPlayed: (name: string) => void;
  /** Open in another tab of this browser, too. */
  otherTab: boolean;
  /** Another tab handed it in or gave it back. */
  doneElsewhere: boolean;
}

/** What a contributor's fields start with. */
export function defaultsOf(work: Pick<Work, 'fields'>): Values {
  const filled = work.fields.filter((f) => f.input === 'contributor' && f.value !== undefined && f.value !== null);
  return Object.fromEntries(filled.map((f) => [f.name, f.value]));
}

function storedOf(work: Pick<Work, 'draft'>): Stored | null {
  const draft = work.draft as Work['draft'] | null;
  return draft && { values: draft.values, revision: draft.revision };
}

/** The draft of a claim; mount it anew (by key) for another claim. */
export function useDraft(work: Work, user: number): Draft {
  const { claim_id: claimId, task_id: task, node, pipeline_id: pipelineId, kind } = work;
  const round = roundOf(work);
  const place = useMemo<Place>(() => ({ user, task, node }), [user, task, node]);
  const [played, setPlayed] = useState<ReadonlySet<string>>(
    () => new Set(mirror.all(place).flatMap((e) => e.played ?? [])),
  );
  const [doneElsewhere, setDoneElsewhere] = useState(false);
  const client = useQueryClient();
  const [started] = useState(() => start());

  function start() {
    const page = Math.random().toString(36).slice(2);
    let mine: Kept = { claimId, pipelineId, kind, round, revision: 0, played: [...played], at: 0 };
    const write = (change: Partial<Kept>) => {
      mine = { ...mine, ...change, at: Date.now() };
      mirror.write(place, mine, page);
    };
    const [kept, ...others] = takeOver();

    /** What pages before this one left and the server does not have, newest first; the rest is forgotten. */
    function takeOver(): Entry[] {
      const server = storedOf(work)?.values;
      return mirror.all(place).filter((entry) => {
        // Corrections are of the answers of their round; a contributor goes on from what they wrote in an earlier one.
        const stale = kind === 'review' && entry.round !== round;
        if (entry.values && !stale && !equal(entry.values, server)) return true;
        mirror.drop(place, entry);
        return false;
      });
    }
    let announce: (revision: number) => void = () => {};
    const port: Port = {
      save: async (values, revision) => {
        const saved = await body(saveDraft({ path: { claim_id: claimId }, body: { values, revision } }));
        // Who comes back to the claim starts with what is remembered of it: never with an older draft.
        const draft = { values, ...saved, updated_at: new Date().toISOString() };
        client.setQueryData(workQuery(claimId).queryKey, (w) => w && { ...w, draft });
        return saved.revision;
      },
      load: async () => storedOf(await body(getClaim({ path: { claim_id: claimId } }))),
      keep: (values, revision, sent) => write({ values, revision, sent: sent === values ? undefined : sent }),
      saved: (revision) => announce(revision),
    };
    // Revisions count anew in each round: the same one is of another draft there.
    const revision = kept?.round === round ? kept.revision : -1;
    const had = kept?.values && { values: kept.values, revision, sent: kept.sent };
    const asides = others.map((e) => ({ values: e.values ?? {}, drop: () => mirror.drop(place, e) }));
    const keeper = new DraftKeeper(port, storedOf(work), had, defaultsOf(work), asides);
    if (kept) mirror.drop(place, kept); // it is this page's now, which has written it
    return {
      keeper,
      write,
      page,
      onSaved: (tell: (revision: number) => void) => {
        announce = tell;
      },
    };
  }

  const { keeper, page } = started;
  const tabs = useTabs(`${user}/${task}/${node}/${claimId}`, {
    onSaved: (revision) => void keeper.changedElsewhere(revision),
    onDone: () => setDoneElsewhere(true),
  });
  started.onSaved(tabs.saved);
  const state = useSyncExternalStore(keeper.subscribe, keeper.get);

  useEffect(() => keeper.seen(storedOf({ draft: work.draft })), [keeper, work.draft]);
  useEffect(() => {
    keeper.stay();
    mirror.sweep(Date.now());
    const flush = () => void keeper.flush();
    const hidden = () => document.visibilityState === 'hidden' && flush();
    // Any answer of the server will do: what the browser calls online says nothing about it.
    const unsubscribe = reachable.subscribe(() => reachable.get() && flush());
    document.addEventListener('visibilitychange', hidden);
    const stays = beforeLeaving(() => keeper.flush());
    return () => {
      unsubscribe();
      stays();
      document.removeEventListener('visibilitychange', hidden);
      keeper.leave();
    };
  }, [keeper]);

  const set = useCallback(
    (name: string, value: unknown) => {
      const { [name]: _, ...rest } = keeper.get().values;
      keeper.edit(value === undefined ? rest : { ...rest, [name]: value });
    },
    [keeper],
  );
  const markPlayed = useCallback(
    (name: string) =>
      setPlayed((old) => {
        if (old.has(name)) return old;
        const next = new Set([...old, name]);
        started.write({ played: [...next] });
        return next;
      }),
    [started],
  );
  const finish = useCallback(() => {
    keeper.stop();
    mirror.remove(place, page);
    tabs.done();
  }, [keeper, place, page, tabs.done]);
  const giveBack = useCallback(() => {
    keeper.stop();
    if (keeper.get().phase === 'saved') mirror.remove(place, page);
    tabs.done();
  }, [keeper, place, page, tabs.done]);
  const flush = useCallback(() => keeper.flush(), [keeper]);
  const resolve = useCallback((choice: 'mine' | 'theirs') => keeper.resolve(choice), [keeper]);
  const settle = useCallback(() => keeper.settle(), [keeper]);
  const handIn = useCallback<Draft['handIn']>(
    (send, words) => keeper.handIn((revision) => withSeen(revision, send), words),
    [keeper],
  );
  return {
    ...state,
    set,
    flush,
    handIn,
    settle,
    resolve,
    finish,
    giveBack,
    played,
    setPlayed: markPlayed,
    otherTab: tabs.others,
    doneElsewhere,
  };
}
