import { useSyncExternalStore } from 'react';

/** Files on their way, by field: a form is not submitted while one is. Kept outside of React: fields come and go. */
export interface PendingUpload {
  id: number;
  field: string;
  file: globalThis.File;
  share: number;
  error?: string;
  abort: () => void;
}

let list: readonly PendingUpload[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly PendingUpload[]) {
  list = next;
  for (const l of listeners) l();
}

export const pendingUploads = {
  get: () => list,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  add(upload: Omit<PendingUpload, 'id' | 'share'>): number {
    set([...list, { ...upload, id: ++last, share: 0 }]);
    return last;
  },
  update(id: number, change: Partial<PendingUpload>) {
    set(list.map((u) => (u.id === id ? { ...u, ...change } : u)));
  },
  remove(id: number) {
    set(list.filter((u) => u.id !== id));
  },
  /** Those of a form that was left are cancelled. */
  clear() {
    for (const u of list) u.abort();
    set([]);
  },
};

export function usePendingUploads(): readonly PendingUpload[] {
  return useSyncExternalStore(pendingUploads.subscribe, pendingUploads.get);
}
