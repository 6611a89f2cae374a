import { asAPIError } from '@/api';
import { atMost } from '@/lib/atMost';

/** Milliseconds before the first repeat, and at most where the server asks for no more; each wait is twice the last. */
const first = 500;
const most = 30_000;

/** Milliseconds to wait after so many repeats, where the server asks for so many seconds. */
export function waitAfter(repeats: number, asked: number): number {
  return Math.max(asked * 1000, Math.min(most, first * 2 ** repeats));
}

/** How often an answer that the server is away is no reason to give up: about half a minute. */
const refusalsMost = 6;

/** A server that wants to be left alone for longer, in seconds, is told of at once. */
const askedMost = 60;

/**
 * Sends what may be sent twice until the server is back. Without any answer there is nothing to tell but that it is
 * still waited for; an answer is told in the end, for it may say why it will not change.
 */
export async function whileAway<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const givenUp = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let refusals = 0;
  for (let repeats = 0; ; repeats++) {
    signal.throwIfAborted();
    try {
      return await send();
    } catch (cause) {
      const err = asAPIError(cause);
      if (!err.offline) refusals++;
      if (!err.away || refusals > refusalsMost || err.retryAfter > askedMost) throw cause;
      await atMost(waitAfter(repeats, err.retryAfter), givenUp);
    }
  }
}
