import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { APIError } from '@/api';
import type { Values } from '@/fields/rules';
import { type Aside, DraftKeeper, type Port, type Stored, type Unsaved } from './keeper';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const offline = () => new APIError(0, 'offline', 'no answer');
const conflict = () => new APIError(409, 'api_error', 'saved elsewhere');

/** A server with one draft, as the real one keeps it. */
function world(stored: Stored | null = null) {
  const server = { draft: stored, over: false, down: false, saves: 0 };
  let kept: Unsaved | undefined;
  const port: Port = {
    save: async (values, revision) => {
      if (server.down) throw offline();
      if (server.over || revision !== (server.draft?.revision ?? 0)) throw conflict();
      server.saves++;
      server.draft = { values, revision: revision + 1 };
      return revision + 1;
    },
    load: async () => {
      if (server.down) throw offline();
      if (server.over) throw new APIError(409, 'api_error', 'your claim is over');
      return server.draft;
    },
    keep: (values, revision, sent) => {
      kept = values && { values, revision, ...(sent && { sent }) };
    },
  };
  return {
    server,
    port,
    /** As the server takes a hand-in. */
    handIn: async (revision: number) => {
      if (revision !== (server.draft?.revision ?? 0)) throw conflict();
      return revision;
    },
    kept: () => kept,
    keeper: (had?: Unsaved, initial: Values = {}, asides: Aside[] = []) =>
      new DraftKeeper(port, server.draft, had, initial, asides),
  };
}

test('a change is kept here at once and saved after a pause', async () => {
  const w = world();
  const k = w.keeper();
  k.edit({ a: 'x' });
  expect(k.get().phase).toBe('dirty');
  expect(w.kept()).toEqual({ values: { a: 'x' }, revision: 0 });
  await vi.advanceTimersByTimeAsync(799);
  expect(w.server.saves).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(k.get().phase).toBe('saved');
  expect(w.server.draft).toEqual({ values: { a: 'x' }, revision: 1 });
  expect(w.kept()).toBeUndefined();
});

test('who never pauses is saved all the same', async () => {
  const w = world();
  const k = w.keeper();
  for (let i = 0; i < 30; i++) {
    k.edit({ a: 'x'.repeat(i) });
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(w.server.saves).toBe(1);
});

test('what is written while a save is on its way is saved after it', async () => {
  const w = world();
  let answer = () => {};
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return save(values, revision);
  };
  const k = w.keeper();
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get().phase).toBe('saving');
  k.edit({ a: '12' });
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(w.kept()).toEqual({ values: { a: '12' }, revision: 1 });
  await vi.advanceTimersByTimeAsync(800);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(w.server.draft).toEqual({ values: { a: '12' }, revision: 2 });
  expect(k.get().phase).toBe('saved');
});

test('offline, it is tried again by itself, and everything is there in the end', async () => {
  const w = world();
  const k = w.keeper();
  w.server.down = true;
  k.edit({ a: 'x' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get().phase).toBe('offline');
  k.edit({ a: 'xy' });
  expect(k.get().phase).toBe('offline');
  expect(w.kept()?.values).toEqual({ a: 'xy' });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(k.get().phase).toBe('offline');
  w.server.down = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(k.get().phase).toBe('saved');
  expect(w.server.draft).toEqual({ values: { a: 'xy' }, revision: 1 });
});

test('what was saved elsewhere is not overwritten: the person chooses theirs', async () => {
  const w = world({ values: { a: '1' }, revision: 3 });
  const k = w.keeper();
  w.server.draft = { values: { a: 'other' }, revision: 4 };
  k.edit({ a: 'mine' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get()).toMatchObject({ phase: 'conflict', values: { a: 'mine' }, theirs: { revision: 4 } });
  k.edit({ a: 'mine, more' });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(w.server.draft.values).toEqual({ a: 'other' });
  expect(w.kept()?.values).toEqual({ a: 'mine, more' });
  await k.resolve('theirs');
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: 'other' } });
  expect(w.kept()).toBeUndefined();
});

test('or they choose their own, which is then saved on top', async () => {
  const w = world({ values: { a: '1' }, revision: 3 });
  const k = w.keeper();
  w.server.draft = { values: { a: 'other' }, revision: 4 };
  k.edit({ a: 'mine' });
  await vi.advanceTimersByTimeAsync(800);
  await k.resolve('mine');
  expect(k.get().phase).toBe('saved');
  expect(w.server.draft).toEqual({ values: { a: 'mine' }, revision: 5 });
});

test('the same words in two places are no conflict', async () => {
  const w = world({ values: { a: '1' }, revision: 3 });
  const k = w.keeper();
  w.server.draft = { values: { a: 'same' }, revision: 4 };
  k.edit({ a: 'same' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get().phase).toBe('saved');
  k.edit({ a: 'more' });
  await vi.advanceTimersByTimeAsync(800);
  expect(w.server.draft).toEqual({ values: { a: 'more' }, revision: 5 });
});

test('a claim that is over keeps what was written, and nothing is sent any more', async () => {
  const w = world();
  const k = w.keeper();
  w.server.over = true;
  k.edit({ a: 'x' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get()).toMatchObject({ phase: 'over', message: 'your claim is over', values: { a: 'x' } });
  expect(w.kept()?.values).toEqual({ a: 'x' });
  k.edit({ a: 'xy' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(w.kept()?.values).toEqual({ a: 'xy' });
  expect(k.get().phase).toBe('over');
});

test('what is refused stays here; the next change is tried', async () => {
  const w = world();
  const { save } = w.port;
  w.port.save = async () => {
    throw new APIError(413, 'payload_too_large', 'the draft is too large');
  };
  const k = w.keeper();
  k.edit({ a: 'x' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get()).toMatchObject({ phase: 'refused', message: 'the draft is too large' });
  w.port.save = save;
  k.edit({ a: 'y' });
  await vi.advanceTimersByTimeAsync(800);
  expect(k.get().phase).toBe('saved');
});

test('after a crash, what the server had not yet goes on', async () => {
  const w = world({ values: { a: '1' }, revision: 3 });
  const k = w.keeper({ values: { a: '12' }, revision: 3 });
  expect(k.get().values).toEqual({ a: '12' });
  await vi.advanceTimersByTimeAsync(800);
  expect(w.server.draft).toEqual({ values: { a: '12' }, revision: 4 });
});

test('after a crash, with a newer draft from elsewhere, the person chooses', () => {
  const w = world({ values: { a: 'other' }, revision: 4 });
  expect(w.keeper({ values: { a: '12' }, revision: 3 }).get()).toMatchObject({
    phase: 'conflict',
    values: { a: '12' },
    theirs: { values: { a: 'other' } },
  });
});

test('a tab in which nothing was written follows the other one', async () => {
  const w = world({ values: { a: '1' }, revision: 1 });
  const k = w.keeper();
  w.server.draft = { values: { a: '2' }, revision: 2 };
  await k.changedElsewhere(2);
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: '2' } });
  k.edit({ a: '3' });
  w.server.draft = { values: { a: '4' }, revision: 3 };
  await k.changedElsewhere(3);
  expect(k.get().values).toEqual({ a: '3' });
});

test('flush saves without waiting; a stopped keeper saves nothing', async () => {
  const w = world();
  const k = w.keeper();
  k.edit({ a: 'x' });
  await k.flush();
  expect(w.server.saves).toBe(1);
  k.edit({ a: 'y' });
  k.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(w.server.saves).toBe(1);
});

test('flush brings the newest there, also past a save of something older that is on its way', async () => {
  const w = world();
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return save(values, revision);
  };
  const k = w.keeper();
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(850);
  k.edit({ a: '12' });
  const flushed = k.flush();
  await vi.advanceTimersByTimeAsync(200);
  await flushed;
  expect(k.get().phase).toBe('saved');
  expect(w.server.draft?.values).toEqual({ a: '12' });
});

test('flush ends when a save fails', async () => {
  const w = world();
  const k = w.keeper();
  w.server.down = true;
  k.edit({ a: '1' });
  await k.flush();
  expect(k.get().phase).toBe('offline');
});

test('a save whose answer got lost is no save of somebody else', async () => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    await save(values, revision);
    throw offline();
  };
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  expect(w.server.draft).toEqual({ values: { a: '1' }, revision: 4 });
  expect(k.get().phase).toBe('offline');
  w.port.save = save;
  k.edit({ a: '12' });
  await vi.advanceTimersByTimeAsync(5000);
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: '12' } });
  expect(w.server.draft).toEqual({ values: { a: '12' }, revision: 5 });
});

test('after a lost answer, what somebody else saved is still a conflict', async () => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  w.server.down = true;
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  w.server.down = false;
  w.server.draft = { values: { a: 'other' }, revision: 4 };
  await vi.advanceTimersByTimeAsync(1000);
  expect(k.get()).toMatchObject({ phase: 'conflict', theirs: { values: { a: 'other' } } });
});

test('who goes on writing does not put off the next try', async () => {
  const w = world();
  const k = w.keeper();
  w.server.down = true;
  k.edit({ a: '' });
  await vi.advanceTimersByTimeAsync(800 + 1000 + 2000); // the next try is in 4 s
  w.server.down = false;
  for (let i = 0; i < 9; i++) {
    k.edit({ a: 'x'.repeat(i) });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(w.server.saves).toBe(1);
});

test('a reload in the middle of a save is no save of somebody else', async () => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    await save(values, revision);
    return new Promise(() => {}); // the page is gone before the answer
  };
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  k.edit({ a: '12' });
  const had = w.kept();
  w.port.save = save;
  expect(w.keeper(had).get()).toMatchObject({ phase: 'dirty', values: { a: '12' } });
  await vi.advanceTimersByTimeAsync(800);
  expect(w.server.draft).toEqual({ values: { a: '12' }, revision: 5 });
});

test('what is handed in goes out with the revision of the last save, and no save goes out beside it', async () => {
  const w = world();
  let answer = () => {};
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    const saved = await save(values, revision);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return saved;
  };
  const k = w.keeper();
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  k.edit({ a: '12' });
  let refuse = () => {};
  const sent: number[] = [];
  const handedIn = k
    .handIn((revision) => {
      sent.push(revision);
      return new Promise((_, reject) => {
        refuse = () => reject(offline());
      });
    })
    .catch((err) => err.status);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([]);
  answer();
  await vi.advanceTimersByTimeAsync(10_000);
  await k.flush();
  expect(sent).toEqual([1]);
  expect(w.server.saves).toBe(1);
  refuse();
  expect(await handedIn).toBe(0);
  await vi.advanceTimersByTimeAsync(800);
  expect(w.server.draft).toEqual({ values: { a: '12' }, revision: 2 });
});

test('a save whose answer got lost does not stand in the way of handing in', async () => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    await save(values, revision);
    throw offline();
  };
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  expect(await k.handIn(w.handIn)).toBe(4);
});

test('what was saved elsewhere is not handed in over: the person chooses, then hands in', async () => {
  const w = world({ values: { a: 'both' }, revision: 3 });
  const k = w.keeper();
  w.server.draft = { values: { a: 'phone' }, revision: 4 };
  await expect(k.handIn(w.handIn)).rejects.toMatchObject({ status: 409 });
  expect(k.get()).toMatchObject({ phase: 'conflict', values: { a: 'both' }, theirs: { values: { a: 'phone' } } });
  expect(w.server.draft).toEqual({ values: { a: 'phone' }, revision: 4 });
  await k.resolve('mine');
  expect(await k.handIn(w.handIn)).toBe(5);
});

test('a refusal for something else is passed on', async () => {
  const w = world({ values: { a: '1' }, revision: 3 });
  const k = w.keeper();
  let asked = 0;
  await expect(k.handIn(async () => Promise.reject(asked++ || conflict()))).rejects.toMatchObject({ status: 409 });
  expect(asked).toBe(1);
  expect(k.get().phase).toBe('saved');
});

test('a newer draft that is heard of is a conflict at once where something is not saved, else it is followed', async () => {
  const w = world({ values: { a: '1' }, revision: 1 });
  const k = w.keeper();
  w.server.draft = { values: { a: '2' }, revision: 2 };
  k.seen(w.server.draft);
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: '2' } });
  k.edit({ a: 'mine' });
  k.seen({ values: { a: '1' }, revision: 1 });
  k.seen(w.server.draft);
  expect(k.get().phase).toBe('dirty');
  w.server.draft = { values: { a: '3' }, revision: 3 };
  k.seen(w.server.draft);
  expect(k.get()).toMatchObject({ phase: 'conflict', values: { a: 'mine' }, theirs: { revision: 3 } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(w.server.saves).toBe(0);
  w.server.draft = { values: { a: '4' }, revision: 4 };
  k.seen(w.server.draft);
  expect(k.get()).toMatchObject({ phase: 'conflict', theirs: { values: { a: '4' } } });
});

test('what other pages left unsaved is offered, one after the other, and forgotten when it is decided', async () => {
  const w = world({ values: { a: '1' }, revision: 1 });
  const dropped: string[] = [];
  const aside = (a: string): Aside => ({ values: { a }, drop: () => dropped.push(a) });
  const k = w.keeper({ values: { a: '2' }, revision: 1 }, {}, [aside('2'), aside('3'), aside('4')]);
  expect(dropped).toEqual(['2']);
  expect(k.get()).toMatchObject({ phase: 'conflict', aside: true, values: { a: '2' }, theirs: { values: { a: '3' } } });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(w.server.saves).toBe(0);
  await k.resolve('theirs');
  expect(w.server.draft).toEqual({ values: { a: '3' }, revision: 2 });
  expect(k.get()).toMatchObject({ phase: 'conflict', aside: true, theirs: { values: { a: '4' } } });
  await k.resolve('mine');
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: '3' } });
  expect(k.get().theirs).toBeUndefined();
  expect(dropped).toEqual(['2', '3', '4']);
});

test('a page that is left tries once more, then never', async () => {
  const w = world();
  const k = w.keeper();
  k.edit({ a: 'x' });
  w.server.down = true;
  k.leave();
  await vi.advanceTimersByTimeAsync(0);
  w.server.down = false;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(w.server.saves).toBe(0);
  expect(w.kept()?.values).toEqual({ a: 'x' });
});

test('a page that is left during a hand-in that fails saves what it has', async () => {
  const w = world();
  const k = w.keeper();
  k.edit({ a: 'x' });
  const handedIn = k.handIn(async () => {
    k.leave();
    await vi.advanceTimersByTimeAsync(1000);
    throw offline();
  });
  await expect(handedIn).rejects.toMatchObject({ status: 0 });
  await vi.advanceTimersByTimeAsync(0);
  expect(w.server.draft).toEqual({ values: { a: 'x' }, revision: 1 });
});

test('a choice that was put off is still there after a reload', () => {
  const w = world({ values: { a: 'other' }, revision: 4 });
  w.keeper({ values: { a: '12' }, revision: 3 });
  expect(w.keeper(w.kept()).get()).toMatchObject({ phase: 'conflict', theirs: { values: { a: 'other' } } });
});

/** A hand-in goes out and has no answer. */
async function loseHandIn(k: DraftKeeper) {
  await expect(k.handIn(async () => Promise.reject(offline()))).rejects.toMatchObject({ status: 0 });
}

test('what was handed in without an answer is not sent again over what was saved elsewhere meanwhile', async () => {
  const w = world({ values: { a: 'laptop' }, revision: 1 });
  const k = w.keeper();
  await loseHandIn(k);
  w.server.draft = { values: { a: 'phone' }, revision: 2 };
  k.seen(w.server.draft);
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: 'laptop' } });
  await expect(k.handIn(w.handIn)).rejects.toMatchObject({ status: 409 });
  expect(k.get()).toMatchObject({ phase: 'conflict', values: { a: 'laptop' }, theirs: { values: { a: 'phone' } } });
  await k.resolve('theirs');
  w.server.draft = { values: { a: 'phone again' }, revision: 3 };
  k.seen(w.server.draft);
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: 'phone again' } });
});

test('who changes something after a hand-in without an answer chooses first', async () => {
  const w = world({ values: { a: 'laptop' }, revision: 1 });
  const k = w.keeper();
  await loseHandIn(k);
  w.server.draft = { values: { a: 'phone' }, revision: 2 };
  k.seen(w.server.draft);
  k.settle();
  expect(k.get()).toMatchObject({ phase: 'conflict', values: { a: 'laptop' }, theirs: { values: { a: 'phone' } } });
});

test('a draft from elsewhere is followed after a refusal of too many requests', async () => {
  const w = world({ values: { a: '1' }, revision: 1 });
  const k = w.keeper();
  await expect(k.handIn(async () => Promise.reject(new APIError(429, 'rate_limited', 'wait')))).rejects.toBeDefined();
  k.seen({ values: { a: '2' }, revision: 2 });
  expect(k.get()).toMatchObject({ phase: 'saved', values: { a: '2' } });
});

test.each([
  ['came through', true],
  ['did not', false],
])('a save that hangs holds up a hand-in for some seconds only: it %s', async (_, through) => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  const { save } = w.port;
  w.port.save = async (values, revision) => {
    if (through) await save(values, revision);
    return new Promise(() => {});
  };
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  const handedIn = k.handIn(w.handIn);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.race([handedIn, 'it waits'])).toBe(through ? 4 : 3);
});

test('a save that is answered only after the hand-in was refused for it is no conflict', async () => {
  const w = world({ values: { a: '0' }, revision: 3 });
  const k = w.keeper();
  const { save } = w.port;
  let answer = () => {};
  w.port.save = async (values, revision) => {
    const saved = await save(values, revision);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return saved;
  };
  k.edit({ a: '1' });
  await vi.advanceTimersByTimeAsync(800);
  const handedIn = k.handIn(async (revision) => {
    answer();
    await vi.advanceTimersByTimeAsync(0);
    return w.handIn(revision);
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await handedIn).toBe(4);
});

test('what a hand-in under a claim that is over brought is kept here: the server may not have kept it', async () => {
  const w = world({ values: { a: 'laptop', hidden: 1 }, revision: 1 });
  const k = w.keeper();
  w.server.over = true;
  await expect(k.handIn(async () => Promise.reject(conflict()), { a: 'laptop' })).rejects.toMatchObject({
    status: 409,
  });
  expect(k.get()).toMatchObject({ phase: 'over', message: 'your claim is over' });
  expect(w.kept()).toEqual({ values: { a: 'laptop', hidden: 1 }, revision: 1, sent: { a: 'laptop' } });
  w.server.over = false;
  w.server.draft = { values: { a: 'phone' }, revision: 2 };
  expect(w.keeper(w.kept()).get()).toMatchObject({ phase: 'conflict', values: { a: 'laptop' } });
  w.server.draft = { values: { a: 'laptop' }, revision: 2 }; // where it did keep it
  expect(w.keeper({ ...w.kept(), sent: { a: 'laptop' } } as Unsaved).get().phase).toBe('dirty');
});

test('nor is it lost when nobody can tell whether the claim is over', async () => {
  const w = world({ values: { a: '1' }, revision: 1 });
  const k = w.keeper();
  w.server.down = true;
  await expect(k.handIn(async () => Promise.reject(conflict()))).rejects.toMatchObject({ status: 409 });
  expect(w.kept()?.values).toEqual({ a: '1' });
  k.seen({ values: { a: '2' }, revision: 2 });
  expect(k.get().phase).toBe('conflict');
});
