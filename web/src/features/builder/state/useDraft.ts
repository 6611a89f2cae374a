import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { asAPIError, body, getPipeline, saveDefinition } from '@/api';
import { beforeLeaving } from '@/features/session/unsent';
import type { Layout } from '@/pipeline/definition';
import type { Doc } from '@/pipeline/history';
import { type Draft, savedOf } from '../queries';
import { type Chip, chipOf, type DraftEvent, type DraftState, type Saved, same, step } from './draft';
import { drop, keep } from './mirror';

/** Milliseconds without an edit before the draft is saved, and between tries while there is no connection. */
const pause = 800;
const retry = 5_000;

export interface DraftControl {
  chip: Chip;
  /** Whether the server may lack something that was done here. */
  unsaved: boolean;
  error: unknown;
  savedAt: string | null;
  /** Saves what is there now; true when the server has it. */
  flush: () => Promise<boolean>;
  /** What somebody else saved meanwhile, and what it was made from. */
  theirs: Saved | null;
  base: Saved;
  takeTheirs: () => void;
  keepMine: () => void;
  /** The nodes were laid out; that alone is not worth a save. */
  placed: (layout: Layout) => void;
}

/** Saves the document a moment after each edit, one save at a time, and never over what somebody else saved. */
export function useDraft(
  id: number,
  user: number,
  doc: Doc,
  first: DraftState,
  polled: Draft | undefined,
): DraftControl {
  const [state, dispatch] = useReducer(step, first);
  const [page] = useState(() => Math.random().toString(36).slice(2));
  const cache = useQueryClient();
  const latest = useRef({ state, doc });
  latest.current = { state, doc };
  const flying = useRef<Promise<boolean> | null>(null);

  /** What follows in the same save goes on from it, before it is drawn. */
  const tell = useCallback((event: DraftEvent) => {
    latest.current = { ...latest.current, state: step(latest.current.state, event) };
    dispatch(event);
  }, []);

  const save = useCallback(async (): Promise<boolean> => {
    const stored = async () => savedOf(await body(getPipeline({ path: { pipeline_id: id } })));
    if (latest.current.state.unanswered.length > 0 && !latest.current.state.theirs) {
      // One of them may be there: the next save has to start from it.
      tell({ type: 'sent' });
      try {
        tell({ type: 'asked', saved: await stored() });
      } catch (err) {
        const offline = asAPIError(err).transient;
        tell({ type: 'failed', error: err, doc: offline ? null : latest.current.doc, offline });
        return false;
      }
    }
    const sent = latest.current.doc;
    const { base, theirs } = latest.current.state;
    if (theirs) return false;
    if (same(base.doc, sent)) return true;
    tell({ type: 'sent' });
    try {
      const answer = await body(
        saveDefinition({
          path: { pipeline_id: id },
          body: { definition: sent.definition, layout: sent.layout, revision: base.revision },
        }),
      );
      tell({
        type: 'saved',
        saved: { ...base, revision: answer.revision, doc: sent, by: null, at: answer.updated_at },
      });
      void cache.invalidateQueries({ queryKey: ['getPipeline', id] });
      return true;
    } catch (err) {
      const e = asAPIError(err);
      tell({ type: 'failed', error: err, doc: sent, offline: e.transient });
      if (e.status !== 409) return false;
      try {
        tell({ type: 'seen', saved: await stored() });
      } catch {
        return false; // the refusal is shown; the poll brings their draft later
      }
      const { state } = latest.current;
      // It was refused for a save of ours that came through after all.
      return !state.theirs && state.base.revision > base.revision && save();
    }
  }, [id, cache, tell]);

  const flush = useCallback(async (): Promise<boolean> => {
    // Several may have waited for the same save: the first of them sends, the others wait for that.
    while (flying.current) await flying.current;
    const now = save();
    flying.current = now;
    const ok = await now;
    if (flying.current === now) flying.current = null;
    // Something was typed while it was on its way.
    return ok && !same(latest.current.state.base.doc, latest.current.doc) ? flush() : ok;
  }, [save]);

  useEffect(() => {
    if (polled) dispatch({ type: 'seen', saved: savedOf(polled) });
  }, [polled]);

  const chip = chipOf(state, doc);
  const dirty = !same(state.base.doc, doc);
  useEffect(() => {
    if (!dirty) drop(user, id, page);
    else keep(user, id, page, { revision: state.base.revision, doc, unanswered: state.unanswered, at: Date.now() });
  }, [dirty, doc, id, user, page, state.base.revision, state.unanswered]);

  useEffect(() => {
    if (!dirty || state.theirs || state.phase === 'saving' || state.refused === doc) return;
    const timer = setTimeout(() => void flush(), state.phase === 'offline' ? retry : pause);
    return () => clearTimeout(timer);
  }, [dirty, doc, state.phase, state.theirs, state.refused, flush]);

  useEffect(
    () =>
      beforeLeaving(async () => {
        if (await flush()) drop(user, id, page);
      }),
    [flush, user, id, page],
  );

  useEffect(() => {
    const back = () => void flush();
    window.addEventListener('online', back);
    return () => window.removeEventListener('online', back);
  }, [flush]);

  return {
    chip,
    unsaved: state.theirs ? dirty : chip !== 'saved',
    error: state.phase === 'refused' && !state.theirs ? state.error : null,
    savedAt: state.base.at,
    flush,
    theirs: state.theirs,
    base: state.base,
    takeTheirs: useCallback(() => dispatch({ type: 'took' }), []),
    keepMine: useCallback(() => dispatch({ type: 'kept' }), []),
    placed: useCallback((layout: Layout) => dispatch({ type: 'placed', layout }), []),
  };
}
