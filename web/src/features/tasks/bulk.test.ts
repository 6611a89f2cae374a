import { expect, test, vi } from 'vitest';
import { bulkLimit, chunks, claimsSeen, runBulk } from './bulk';

const ids = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

test('chunks keep order and lose nothing', () => {
  expect(chunks(ids(5), 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunks([], 2)).toEqual([]);
});

test('a list shows claims up to its newest one', () => {
  const at = (status: string, since: string) => ({ at: [{ status, since }] });
  expect(claimsSeen([at('available', '2026-11-21T09:00:00Z')])).toBe(0);
  const tasks = [at('claimed', '2026-11-21T08:00:00.25Z'), at('claimed', '2026-11-21T07:00:00Z')];
  expect(new Date(claimsSeen(tasks)).toISOString()).toBe('2026-11-21T08:00:00.251Z');
});

test('many tasks go in requests that the server takes, and refusals are collected', async () => {
  const send = vi.fn(async (part: number[]) => ({
    done: part.filter((id) => id !== 7),
    failed: part.filter((id) => id === 7).map((task_id) => ({ task_id, message: 'is finished' })),
  }));
  const steps: number[] = [];
  const out = await runBulk(
    ids(450),
    send,
    (o) => steps.push(o.done.length + o.failed.length),
    new AbortController().signal,
  );
  expect(send.mock.calls.map(([part]) => part.length)).toEqual([bulkLimit, bulkLimit, 50]);
  expect(steps).toEqual([200, 400, 450]);
  expect(out.failed).toEqual([{ task_id: 7, message: 'is finished' }]);
  expect([out.done.length, out.left.length]).toEqual([449, 0]);
});

test('a request that fails names what was left', async () => {
  const send = vi
    .fn()
    .mockResolvedValueOnce({ done: ids(200), failed: [] })
    .mockRejectedValueOnce(new Error('down'));
  const out = await runBulk(ids(450), send, () => {}, new AbortController().signal);
  expect(out.left.length).toBe(250);
  expect(out.left[0]).toBe(201);
  expect(out.error).toEqual(new Error('down'));
});

test('where the server breaks off the run ends, and what it left comes before what was not sent', async () => {
  const send = vi.fn(async (part: number[]) => ({
    done: part.slice(0, 1),
    failed: [{ task_id: 2, message: 'is finished' }],
    left: part.slice(2),
  }));
  const told: number[] = [];
  const out = await runBulk(ids(450), send, (o) => told.push(o.left.length), new AbortController().signal);
  expect(send).toHaveBeenCalledTimes(1);
  expect(told).toEqual([448]);
  expect([out.done, out.failed.map((f) => f.task_id)]).toEqual([[1], [2]]);
  expect(out.left).toEqual(ids(450).slice(2));
  expect(out.error).toBeInstanceOf(Error);
});

test('stopping keeps what was done', async () => {
  const stop = new AbortController();
  const send = vi.fn(async (part: number[]) => {
    stop.abort();
    return { done: part, failed: [] };
  });
  const out = await runBulk(ids(450), send, () => {}, stop.signal);
  expect([out.done.length, out.left.length]).toEqual([200, 250]);
});
