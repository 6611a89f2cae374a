import { useSyncExternalStore } from 'react';

// One timer for every "3 minutes ago" of a page: lists have hundreds of them.
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const l of listeners) l();
  }, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time in milliseconds, fresh to half a minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => {
    // Before anybody subscribed it stood still; asked twice in a row it must answer the same.
    if (!timer && Date.now() - now > 1000) now = Date.now();
    return now;
  });
}
