import { act, cleanup, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { belonging } from '@/features/session/belonging';
import { MeProvider } from '@/features/session/me';
import { sampleReview } from '@/testing/claimPage';
import { anything } from './notes';
import { useNotes } from './useNotes';

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const key = 'taskloom.review.1.12.check.1,solve:1';
const ada = belonging({ id: 1, name: 'Ada', email: 'ada@x', orgs: [] }, []);

function start(work = sampleReview()) {
  const wrapper = ({ children }: { children: React.ReactNode }) => <MeProvider value={ada}>{children}</MeProvider>;
  return renderHook(() => useNotes(work), { wrapper }).result;
}

/** What another tab wrote, as the browser tells it. */
function elsewhere(notes: unknown) {
  localStorage.setItem(key, JSON.stringify({ at: Date.now(), notes }));
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key, storageArea: localStorage })));
}

test('two tabs of a review show and keep the same comments', () => {
  const tab = start();
  elsewhere({ fields: { answer: { text: 'count again' } }, overall: '' });
  expect(tab.current.notes.fields.answer?.text).toBe('count again');
  act(() => tab.current.setOverall('nearly'));
  const kept = JSON.parse(localStorage.getItem(key) ?? '{}').notes;
  expect(kept).toEqual({ fields: { answer: { text: 'count again' } }, overall: 'nearly' });
});

test('what came from another tab is not written again: the tabs would never rest', () => {
  start();
  const set = vi.spyOn(Storage.prototype, 'setItem');
  elsewhere({ fields: {}, overall: 'theirs' });
  expect(set).toHaveBeenCalledOnce(); // the other tab's own
});

test('without room, old comments make some, and the new ones are kept', () => {
  const old = 'taskloom.review.1.5.check.1';
  localStorage.setItem(old, JSON.stringify({ at: Date.now() - 2 * 24 * 3_600_000, notes: {} }));
  const tab = start();
  const { setItem } = Storage.prototype;
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, name: string, text: string) {
    if (localStorage.getItem(old) !== null) throw new DOMException('full', 'QuotaExceededError');
    setItem.call(this, name, text);
  });
  act(() => tab.current.setOverall('new'));
  expect(localStorage.getItem(old)).toBeNull();
  expect(JSON.parse(localStorage.getItem(key) ?? '{}').notes.overall).toBe('new');
});

test('comments are not those of a round of the review that was withdrawn', () => {
  const first = start();
  act(() => first.current.setOverall('of the first'));
  cleanup();
  expect(start().current.notes.overall).toBe('of the first');
  cleanup();
  expect(start(anew()).current.notes.overall).toBe('');
});

test('comments of an undone review stay deleted over a reload, until the new one is handed in', () => {
  const first = start(again());
  expect(first.current.notes).toEqual({ fields: { answer: { text: 'no' } }, overall: 'nearly' });
  act(() => {
    first.current.setField('answer', { text: '' });
    first.current.setOverall('');
  });
  cleanup();
  const reloaded = start(again());
  expect(anything(reloaded.current.notes)).toBe(false);
  act(() => reloaded.current.forget());
  expect(Object.keys(localStorage)).toEqual([]);
});

/** The same review, done again after its verdict was undone. */
function again() {
  const undone = { claim_id: 'c0', verdict: 'reject' as const, values: {}, at: '2026-01-01T00:00:00Z' };
  const comments = [{ field: 'answer', text: 'no' }, { text: 'nearly' }];
  return sampleReview({ iteration: 2, undo_of: { ...undone, comments } });
}

/** The same review, withdrawn before a verdict, of what its author handed in after that. */
function anew() {
  const { reviewed } = sampleReview();
  return sampleReview({ reviewed: reviewed.map((r) => ({ ...r, iteration: 2 })) });
}
