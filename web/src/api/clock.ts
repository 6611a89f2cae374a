/**
 * The server's clock as far as its answers tell: leases and times to undo end by it, and a browser's clock may be
 * minutes off. An answer with Date D that was on its way from `sent` to `received` says that the difference lies
 * between D - received and D + 1 s - sent: Date has whole seconds. What all answers say together narrows it down,
 * however late one of them is.
 */
let low = Number.NEGATIVE_INFINITY;
let high = Number.POSITIVE_INFINITY;

/** Takes the Date of an answer, which no cache kept. */
export function heardTime(headers: Headers, sent: number, received: number) {
  const date = Date.parse(headers.get('Date') ?? '');
  if (Number.isNaN(date) || headers.has('Age')) return;
  const [from, to] = [date - received, date + 1000 - sent];
  if (from > high || to < low)
    [low, high] = [from, to]; // a clock was set
  else [low, high] = [Math.max(low, from), Math.min(high, to)];
}

/** The time at the server, in milliseconds; this browser's while nothing says that it is wrong. */
export function serverNow(): number {
  const right = low <= 0 && high >= 0;
  return Date.now() + (right ? 0 : Math.round((low + high) / 2));
}

export function forgetTime() {
  [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
}
