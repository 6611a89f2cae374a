import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reachable, type Work } from '@/api';
import { consoleAPI, Refused, sampleReview, sampleWork } from '@/testing/claimPage';
import { roundOf } from '../round';
import { mirror } from './mirror';
import { useDraft } from './useDraft';

beforeEach(() => localStorage.clear());
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const user = 1;
const place = { user, task: 12, node: 'solve' };

function start(work: Work = sampleWork()) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: React.ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return renderHook(() => useDraft(work, user), { wrapper }).result;
}

/** A server without an answer, and how it comes back with the draft that it then has. */
function down() {
  const routes = saves();
  const { 'PUT /claims/c1/draft': save } = routes;
  routes['PUT /claims/c1/draft'] = () => {
    throw new Refused(0);
  };
  return () => {
    routes['PUT /claims/c1/draft'] = save as never;
  };
}

const saves = () =>
  consoleAPI({ 'PUT /claims/c1/draft': (sent) => ({ revision: (sent as { revision: number }).revision + 1 }) });

test('what is given back and never reached the server stays in this browser', async () => {
  const routes = saves();
  routes['PUT /claims/c1/draft'] = () => {
    throw new Refused(0);
  };
  const draft = start();
  act(() => draft.current.set('answer', '42'));
  await act(() => draft.current.flush());
  expect(draft.current.phase).toBe('offline');
  act(() => draft.current.giveBack());
  expect(mirror.read(place)?.values).toEqual({ answer: '42' });
});

test('what is given back saved, or handed in, is forgotten here', async () => {
  saves();
  const draft = start();
  act(() => draft.current.set('answer', '42'));
  await act(() => draft.current.flush());
  act(() => draft.current.giveBack());
  expect(mirror.read(place)).toBeUndefined();

  const other = start();
  act(() => other.current.set('answer', '43'));
  expect(mirror.read(place)?.values).toEqual({ answer: '43' });
  act(() => other.current.finish());
  await waitFor(() => expect(mirror.read(place)).toBeUndefined());
});

test('what waits goes out with the first answer of the server to anything', async () => {
  const routes = saves();
  const { 'PUT /claims/c1/draft': save } = routes;
  routes['PUT /claims/c1/draft'] = () => {
    throw new Refused(0);
  };
  const draft = start();
  act(() => draft.current.set('answer', '42'));
  for (let i = 0; i < 4; i++) await act(() => draft.current.flush()); // the next try by itself is in 8 s
  routes['PUT /claims/c1/draft'] = save as never;
  act(() => reachable.set(true));
  await waitFor(() => expect(draft.current.phase).toBe('saved'), { timeout: 4000 });
});

test('corrections of an earlier round are not put over the answers of this one', () => {
  saves();
  const at = { ...place, node: 'check' };
  const kept = { claimId: 'c0', pipelineId: 3, revision: 0, values: { answer: '42' }, at: Date.now() };
  const review = sampleReview({ iteration: 2 });
  const [under] = review.reviewed;
  const withdrawn = sampleReview({ iteration: 2, reviewed: [{ ...under, iteration: 2 } as never] });
  for (const other of [sampleReview(), withdrawn]) {
    mirror.write(at, { ...kept, round: roundOf(other) });
    expect(start(review).current.values).toEqual({});
    cleanup();
  }
  mirror.write(at, { ...kept, round: roundOf(review) });
  expect(start(review).current.values).toEqual({ answer: '42' });
  cleanup();
  mirror.write(place, { ...kept, round: '1' });
  expect(start(sampleWork({ iteration: 2 })).current.values).toEqual({ answer: '42' });
});

test('what another tab did under an earlier claim says nothing about this one', async () => {
  saves();
  const draft = start();
  const tab = new BroadcastChannel('taskloom.work');
  const done = (claim: string) =>
    tab.postMessage({ place: `${user}/12/solve/${claim}`, from: 'another tab', kind: 'done' });
  const heard: string[] = [];
  const witness = new BroadcastChannel('taskloom.work');
  witness.onmessage = (e) => heard.push(e.data.place);
  act(() => done('c0'));
  await waitFor(() => expect(heard).toContain(`${user}/12/solve/c0`));
  expect(draft.current.doneElsewhere).toBe(false);
  act(() => done('c1'));
  await waitFor(() => expect(draft.current.doneElsewhere).toBe(true));
  tab.close();
  witness.close();
});

test('a tab that is saved does not take away what another one has not saved', async () => {
  const routes = saves();
  const { 'PUT /claims/c1/draft': save } = routes;
  routes['PUT /claims/c1/draft'] = (sent, ...more) => {
    if ((sent as { values: { answer: string } }).values.answer === 'two') throw new Refused(0);
    return save?.(sent, ...more);
  };
  const [one, two] = [start(), start()];
  act(() => one.current.set('answer', 'one'));
  act(() => two.current.set('answer', 'two'));
  await act(() => two.current.flush());
  await act(() => one.current.flush());
  expect(one.current.phase).toBe('saved');
  expect(mirror.all(place).flatMap((e) => e.values?.answer ?? [])).toEqual(['two']);
  act(() => one.current.finish());
  expect(mirror.read(place)?.values).toEqual({ answer: 'two' });
});

test('what two tabs left unsaved is offered in the next one, and nothing stays behind', async () => {
  const up = down();
  const tabs = [start(), start()];
  act(() => tabs[0]?.current.set('answer', 'one'));
  const later = Date.now() + 1;
  vi.spyOn(Date, 'now').mockReturnValue(later);
  act(() => tabs[1]?.current.set('answer', 'two'));
  vi.mocked(Date.now).mockRestore();
  cleanup();
  await waitFor(() => expect(mirror.all(place)).toHaveLength(2));
  up();
  const next = start();
  expect(next.current).toMatchObject({ phase: 'conflict', aside: true, values: { answer: 'two' } });
  expect(next.current.theirs?.values).toEqual({ answer: 'one' });
  await act(() => next.current.resolve('theirs'));
  expect(next.current).toMatchObject({ phase: 'saved', values: { answer: 'one' } });
  expect(mirror.all(place).map((e) => e.values)).toEqual([undefined]);
});

test('what came back in a new round is not covered by words of an earlier one, whose revisions count anew', async () => {
  const routes = saves();
  const put = vi.spyOn(routes, 'PUT /claims/c1/draft' as never);
  const draft = (answer: string, revision: number) => ({ values: { answer }, revision, updated_at: '' });
  const kept = { claimId: 'c0', pipelineId: 3, round: '1', values: { answer: 'old' }, at: Date.now() };
  // Undone, where the draft is what was handed in, and rejected, where no draft was saved yet.
  for (const revision of [1, 0]) {
    localStorage.clear();
    mirror.write(place, { ...kept, revision });
    const again = sampleWork({ iteration: 2, draft: draft('phone', revision) });
    for (let opened = 0; opened < 2; opened++) {
      const { current } = start(again);
      expect(current).toMatchObject({ phase: 'conflict', values: { answer: 'old' } });
      expect(current.theirs?.values).toEqual({ answer: 'phone' });
      cleanup();
    }
  }
  expect(put).not.toHaveBeenCalled();
  localStorage.clear();
  mirror.write(place, { ...kept, revision: 1, sent: { answer: 'mine' } });
  expect(start(sampleWork({ iteration: 2, draft: draft('mine', 1) })).current.phase).toBe('dirty');
});
