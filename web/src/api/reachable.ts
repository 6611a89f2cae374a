import { useSyncExternalStore } from 'react';

// Whether the last request got any answer: what the browser calls "online"
// says nothing about the server.
let now = true;
const listeners = new Set<() => void>();

export const reachable = {
  get: () => now,
  set(yes: boolean) {
    if (yes === now) return;
    now = yes;
    for (const l of listeners) l();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

export function useReachable(): boolean {
  return useSyncExternalStore(reachable.subscribe, reachable.get, () => true);
}

// A browser that knows itself offline sends nothing, so nothing would fail.
if (typeof window !== 'undefined') {
  window.addEventListener('offline', () => reachable.set(false));
  window.addEventListener('online', () => reachable.set(true));
}
