import { describe, expect, it } from 'vitest';
import { APIError } from '@/api';
import { emptyDefinition } from '@/pipeline/definition';
import type { Doc } from '@/pipeline/history';
import { chipOf, type DraftState, opened, type Saved, step } from './draft';

const doc = (name: string): Doc => ({ definition: emptyDefinition(name), layout: {} });
const saved = (revision: number, name = `r${revision}`): Saved => ({ revision, doc: doc(name), by: 'Ada', at: null });
const run = (s: DraftState, ...events: Parameters<typeof step>[1][]) => events.reduce(step, s);

describe('the state of a draft', () => {
  it('tells saved from unsaved by what is in it', () => {
    const s = opened(saved(1));
    expect(chipOf(s, doc('r1'))).toBe('saved');
    expect(chipOf(s, doc('x'))).toBe('unsaved');
  });

  it('goes on from what was saved', () => {
    const s = run(opened(saved(1)), { type: 'sent' }, { type: 'saved', saved: saved(2, 'x') });
    expect(s.base.revision).toBe(2);
    expect(chipOf(s, doc('x'))).toBe('saved');
  });

  it('notices a newer draft, and offers nothing else until a person decided', () => {
    const s = run(opened(saved(1)), { type: 'seen', saved: saved(2) });
    expect(chipOf(s, doc('mine'))).toBe('conflict');
    expect(run(s, { type: 'seen', saved: saved(2) })).toBe(s);
    expect(run(s, { type: 'seen', saved: saved(3) }).theirs?.revision).toBe(3);
    for (const type of ['took', 'kept'] as const) {
      const after = run(s, { type });
      expect(after.theirs).toBeNull();
      // The next save says that it has seen theirs.
      expect(after.base.revision).toBe(2);
    }
  });

  it('does not take its own save, or an old answer, for somebody else’s', () => {
    const sending = run(opened(saved(1)), { type: 'sent' });
    expect(run(sending, { type: 'seen', saved: saved(2) }).theirs).toBeNull();
    const done = run(sending, { type: 'saved', saved: saved(2) });
    expect(run(done, { type: 'seen', saved: saved(1) }).theirs).toBeNull();
    expect(run(done, { type: 'seen', saved: saved(2) }).theirs).toBeNull();
  });

  it('shows a conflict that a refused save brought to light', () => {
    const s = run(
      opened(saved(1)),
      { type: 'sent' },
      { type: 'failed', error: new Error('409'), doc: doc('mine'), offline: false },
      { type: 'seen', saved: saved(4) },
    );
    expect(chipOf(s, doc('mine'))).toBe('conflict');
    expect(s.base.revision).toBe(1);
  });

  it('remembers what was refused, and forgets it when it was only the connection', () => {
    const mine = doc('mine');
    const refused = run(opened(saved(1)), { type: 'sent' }, { type: 'failed', error: 'x', doc: mine, offline: false });
    expect([refused.phase, refused.refused]).toEqual(['refused', mine]);
    const offline = run(opened(saved(1)), { type: 'sent' }, { type: 'failed', error: 'x', doc: mine, offline: true });
    expect([chipOf(offline, mine), offline.refused]).toEqual(['offline', null]);
  });

  it('knows a save of its own that was not answered', () => {
    const lost = run(
      opened(saved(1)),
      { type: 'sent' },
      { type: 'failed', error: 'x', doc: doc('mine'), offline: true },
      { type: 'seen', saved: saved(1) },
    );
    expect(run(lost, { type: 'seen', saved: saved(2, 'mine') })).toEqual(opened(saved(2, 'mine')));
    expect(chipOf(run(lost, { type: 'seen', saved: saved(2, 'other') }), doc('mine'))).toBe('conflict');
    const done = run(lost, { type: 'sent' }, { type: 'saved', saved: saved(2) });
    expect(run(done, { type: 'seen', saved: saved(3, 'mine') }).theirs?.revision).toBe(3);
  });

  it('counts a first layout as nothing to save', () => {
    const s = run(opened(saved(1)), { type: 'placed', layout: { start: [1, 1] } });
    expect(chipOf(s, { ...doc('r1'), layout: { start: [1, 1] } })).toBe('saved');
  });

  it('remembers each save without an answer once, the last twenty, and none that was turned away unread', () => {
    const lost = (name: string, status = 0) =>
      ({ type: 'failed', error: new APIError(status, '', ''), doc: doc(name), offline: true }) as const;
    const once = run(opened(saved(1)), lost('a'), lost('a'), lost('b'), lost('a'), lost('c', 429));
    expect(once.unanswered.map((d) => d.definition.name)).toEqual(['b', 'a']);
    const many = run(opened(saved(1)), ...Array.from({ length: 30 }, (_, i) => lost(`${i}`)));
    expect(many.unanswered.map((d) => d.definition.name)).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 10}`));
  });
});
