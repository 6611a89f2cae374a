import { useCallback, useEffect, useState } from 'react';
import type { Work } from '@/api';
import { useMe } from '@/features/session/me';
import { roundOf } from '@/features/work/round';
import { anything, type Note, type Notes, noNotes, notesFrom, parseNotes } from './notes';

const prefix = 'taskloom.review.';
/** How long unsent notes stay in the browser, in milliseconds. */
const day = 24 * 3_600_000;
const kept = 30 * day;

/**
 * A reviewer's verdicts and comments by field. The server's draft holds the
 * corrections only, so these stay in this browser until they are handed in:
 * under the round, so that a claim that ran out and was taken again finds
 * them, and a review of what was handed in anew does not.
 */
export function useNotes(work: Work) {
  const { me } = useMe();
  const key = `${prefix}${me.id}.${work.task_id}.${work.node}.${roundOf(work)}`;
  const [undone] = useState<Notes>(() => (work.undo_of ? notesFrom(work.undo_of.comments) : noNotes));
  const [notes, setNotes] = useState<Notes>(() => read(key) ?? undone);
  useEffect(() => {
    write(key, notes, undone);
  }, [key, notes, undone]);
  useEffect(() => {
    // Another tab of this browser has the same review open: both show the same comments.
    const follow = (e: StorageEvent) => {
      if (e.key !== key || e.storageArea !== localStorage) return;
      const theirs = read(key) ?? noNotes;
      setNotes((mine) => (said(mine) === said(theirs) ? mine : theirs));
    };
    window.addEventListener('storage', follow);
    return () => window.removeEventListener('storage', follow);
  }, [key]);
  const setField = useCallback((name: string, part: Partial<Note>) => {
    setNotes((n) => ({ ...n, fields: { ...n.fields, [name]: { text: '', ...n.fields[name], ...part } } }));
  }, []);
  const setOverall = useCallback((overall: string) => setNotes((n) => ({ ...n, overall })), []);
  /** They are handed in. */
  const forget = useCallback(() => remove(key), [key]);
  return { notes, setField, setOverall, forget };
}

function read(key: string): Notes | null {
  try {
    const raw = localStorage.getItem(key);
    return raw ? parseNotes(JSON.parse(raw).notes) : null;
  } catch {
    return null;
  }
}

/** Notes as text, to compare them. */
function said(notes: Notes): string {
  const fields = Object.entries(notes.fields).filter(([, n]) => n.text || n.verdict);
  return JSON.stringify([notes.overall, fields.map(([name, n]) => [name, n.verdict ?? '', n.text]).sort()]);
}

/** Keeps the notes of a round that began with those of an undone review, if any. */
function write(key: string, notes: Notes, undone: Notes) {
  const before = read(key) ?? noNotes;
  if (said(before) === said(notes)) return; // else two tabs would tell each other the same for ever
  // That there are none is kept where a reload would bring the undone ones back.
  if (!anything(notes) && !anything(undone)) return remove(key);
  const text = JSON.stringify({ at: Date.now(), notes });
  try {
    localStorage.setItem(key, text);
  } catch {
    try {
      prune(day); // full: what is old goes
      localStorage.setItem(key, text);
    } catch {
      // Still no room, or no storage: it stays on the screen.
    }
  }
}

function remove(key: string) {
  try {
    localStorage.removeItem(key);
    prune(kept);
  } catch {
    // No storage, nothing to remove.
  }
}

/** Drops notes that nobody handed in for longer than age. */
function prune(age: number) {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(prefix)) continue;
    try {
      const at = Number(JSON.parse(localStorage.getItem(key) ?? '{}').at);
      if (!(at > Date.now() - age)) localStorage.removeItem(key);
    } catch {
      localStorage.removeItem(key);
    }
  }
}
