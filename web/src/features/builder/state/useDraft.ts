import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { asAPIError, body, getPipeline, saveDefinition } from '@/api';
import { beforeLeaving } from '@/features/session/unsent';
import type { Layout } from '@/pipeline/definition';
import type { Doc } from '@/pipeline/history';
import { type Draft, savedOf } from '../queries';
import { type Chip, chipOf, opened, type Saved, same, step } from './draft';
import { drop, keep } from './mirror';

/** Milliseconds without an edit before the draft is saved, and between tries while there is no connection. */
const pause = 800;
const retry = 5_000;

export interface DraftControl {
  chip: Chip;
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
export function useDraft(id: number, user: number, doc: Doc, first: Saved, polled: Draft | undefined): DraftControl {
  const [state, dispatch] = useReducer(step, first, opened);
  const cache = useQueryClient();
  const latest = useRef({ state, doc });
  latest.current = { state, doc };
  const flying = useRef<Promise<boolean> | null>(null);

  const save = useCallback(async (): Promise<boolean> => {
    const sent = latest.current.doc;
    const { base, theirs } = latest.current.state;
    if (theirs) return false;
    if (same(base.doc, sent)) return true;
    dispatch({ type: 'sent' });
    try {
      const answer = await body(
        saveDefinition({
          path: { pipeline_id: id },
          body: { definition: sent.definition, layout: sent.layout, revision: base.revision },
        }),
      );
      const saved = { ...base, revision: answer.revision, doc: sent, by: null, at: answer.updated_at };
      latest.current = { ...latest.current, state: step(latest.current.state, { type: 'saved', saved }) };
      dispatch({ type: 'saved', saved });
      void cache.invalidateQueries({ queryKey: ['getPipeline', id] });
      return true;
    } catch (err) {
      const e = asAPIError(err);
      dispatch({ type: 'failed', error: err, doc: sent, offline: e.transient });
      if (e.status !== 409) return false;
      try {
        const theirs = savedOf(await body(getPipeline({ path: { pipeline_id: id } })));
        dispatch({ type: 'seen', saved: theirs });
      } catch {
        // The refusal is shown; the poll brings their draft later.
      }
      return false;
    }
  }, [id, cache]);

  const flush = useCallback(async (): Promise<boolean> => {
    if (flying.current) await flying.current;
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
    if (!dirty) drop(user, id);
    else keep(user, id, { revision: state.base.revision, doc, at: Date.now() });
  }, [dirty, doc, id, user, state.base.revision]);

  useEffect(() => {
    if (!dirty || state.theirs || state.phase === 'saving' || state.refused === doc) return;
    const timer = setTimeout(() => void flush(), state.phase === 'offline' ? retry : pause);
    return () => clearTimeout(timer);
  }, [dirty, doc, state.phase, state.theirs, state.refused, flush]);

  useEffect(
    () =>
      beforeLeaving(async () => {
        if (await flush()) drop(user, id);
      }),
    [flush, user, id],
  );

  useEffect(() => {
    const back = () => void flush();
    window.addEventListener('online', back);
    return () => window.removeEventListener('online', back);
  }, [flush]);

  return {
    chip,
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
