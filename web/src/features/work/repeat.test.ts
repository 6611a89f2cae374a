import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { APIError } from '@/api';
import { whileAway } from './repeat';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refusal = (status: number, retryAfter = 0) => new APIError(status, 'unavailable', 'not now', [], '', retryAfter);

/** What is refused so many times, then answered. */
function refusing(times: number, error: APIError) {
  let sent = 0;
  return vi.fn(async () => {
    sent += 1;
    if (sent <= times) throw error;
    return 'here';
  });
}

test('without any answer it is sent until there is one', async () => {
  const send = refusing(20, refusal(0));
  const got = whileAway(send, new AbortController().signal);
  await vi.runAllTimersAsync();
  expect(await got).toBe('here');
  expect(send).toHaveBeenCalledTimes(21);
});

test.each([502, 503, 504])('a status of %i that stays is told in the end', async (status) => {
  const send = refusing(20, refusal(status));
  const told = expect(whileAway(send, new AbortController().signal)).rejects.toMatchObject({ status });
  await vi.runAllTimersAsync();
  await told;
  expect(send).toHaveBeenCalledTimes(1 + 6);
});

test.each([409, 422, 500])('a status of %i is told at once', async (status) => {
  const send = refusing(1, refusal(status));
  await expect(whileAway(send, new AbortController().signal)).rejects.toMatchObject({ status });
  expect(send).toHaveBeenCalledOnce();
});

test('not before the server wants it', async () => {
  const send = refusing(1, refusal(503, 2));
  const got = whileAway(send, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(1999);
  expect(send).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(1);
  expect(await got).toBe('here');
});

test('a server that wants to be left alone for long is told of at once', async () => {
  const send = refusing(1, refusal(503, 3600));
  await expect(whileAway(send, new AbortController().signal)).rejects.toMatchObject({ status: 503 });
  expect(send).toHaveBeenCalledOnce();
});

test('whoever gives up between two tries sends no other', async () => {
  const send = refusing(20, refusal(0));
  const stop = new AbortController();
  const told = expect(whileAway(send, stop.signal)).rejects.toThrow('aborted');
  await vi.advanceTimersByTimeAsync(100);
  stop.abort();
  await told;
  expect(send).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
