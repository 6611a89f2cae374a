import { useSyncExternalStore } from 'react';

/** Settings of the person that code outside of components asks for, too. */
export interface Prefs {
  /** Shortcuts of one character, such as `a` to approve. */
  singleKeys: boolean;
  zone: 'local' | 'utc';
  density: 'comfortable' | 'compact';
}

const initial: Prefs = { singleKeys: true, zone: 'local', density: 'comfortable' };
let now = initial;
const listeners = new Set<() => void>();

export const prefs = {
  get: () => now,
  set(change: Partial<Prefs>) {
    const next = { ...now, ...change };
    if (next.singleKeys === now.singleKeys && next.zone === now.zone && next.density === now.density) return;
    now = next;
    for (const l of listeners) l();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

export function usePrefs(): Prefs {
  return useSyncExternalStore(prefs.subscribe, prefs.get, () => initial);
}
