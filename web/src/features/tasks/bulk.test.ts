import { expect, test, vi } from 'vitest';
import { bulkLimit, chunks, runBulk } from './bulk';

const ids = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

test('chunks keep order and lose nothing', () => {
  expect(chunks(ids(5), 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunks([], 2)).toEqual([]);
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

test('stopping keeps what was done', async () => {
  const stop = new AbortController();
  const send = vi.fn(async (part: number[]) => {
    stop.abort();
    return { done: part, failed: [] };
  });
  const out = await runBulk(ids(450), send, () => {}, stop.signal);
  expect([out.done.length, out.left.length]).toEqual([200, 250]);
});
