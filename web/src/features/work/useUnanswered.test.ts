import { act, cleanup, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { APIError } from '@/api';
import { useUnanswered } from './useUnanswered';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** A hand-in that failed, and how it is sent again. */
function failed(status: number, retryAfter = 0) {
  const send = vi.fn();
  const error = new APIError(status, 'unavailable', 'not now', [], '', retryAfter);
  const handIn = { variables: 'what was sent', error, isPending: false, reset: () => {} };
  renderHook(() => useUnanswered(handIn, false, send, () => {}));
  return send;
}

const pass = (ms: number) => act(() => void vi.advanceTimersByTime(ms));

test.each([0, 502, 503, 504])('the same is sent again by itself after a status of %i', (status) => {
  const send = failed(status);
  pass(499);
  expect(send).not.toHaveBeenCalled();
  pass(1);
  expect(send.mock.calls).toEqual([['what was sent']]);
});

test('not before the server wants it', () => {
  const send = failed(503, 2);
  pass(1999);
  expect(send).not.toHaveBeenCalled();
  pass(1);
  expect(send).toHaveBeenCalledOnce();
});

test('a server that failed at it is asked again by the person alone', () => {
  const send = failed(500);
  pass(60_000);
  expect(send).not.toHaveBeenCalled();
});
