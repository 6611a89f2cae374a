import { expect, test, vi } from 'vitest';
import { asOf, bulkLimit, byReason, chunks, claimsSeen, runBulk } from './bulk';

const ids = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

test('chunks keep order and lose nothing', () => {
  expect(chunks(ids(5), 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunks([], 2)).toEqual([]);
});

test('claims are released up to the newest that was seen on the tasks of a request', () => {
  const task = (id: number, status: string, since: string) => ({ id, at: [{ status, since: `2026-11-21T${since}Z` }] });
  const first = claimsSeen([task(1, 'claimed', '08:00:00.25'), task(2, 'claimed', '07:00:00')]);
  expect(asOf(first, [1, 2])).toBe('2026-11-21T08:00:00.251Z');
  const both = claimsSeen([task(3, 'claimed', '09:00:00')], first);
  expect(asOf(both, [2])).toBe('2026-11-21T07:00:00.001Z');
  expect(asOf(both, [1, 2])).toBe('2026-11-21T08:00:00.251Z');
  expect(asOf(both, [3])).toBe('2026-11-21T09:00:00.001Z');
  expect(asOf(claimsSeen([task(3, 'available', '09:30:00')], both), [3])).toBe('1970-01-01T00:00:00.000Z');
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

test('refusals go by the sentence, whichever task it names', () => {
  const refused = (task_id: number, message = `task ${task_id} is finished`) => ({ task_id, message });
  expect(byReason([refused(7), refused(1, 'task 17 is in the way'), refused(71)])).toEqual([
    ['the task is finished', [7, 71]],
    ['task 17 is in the way', [1]],
  ]);
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
