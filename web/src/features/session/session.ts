import { useSyncExternalStore } from 'react';
import { type User, whenSessionLost } from '@/api';

/**
 * The session of this tab: whose it is, and whether it was lost. It lives
 * outside of React because requests wait for it.
 */
interface State {
  user: User | null;
  lost: boolean;
}

type News = { kind: 'in'; user: number } | { kind: 'out' };

let state: State = { user: null, lost: false };
let waiting: { promise: Promise<void>; done: () => void } | null = null;
const listeners = new Set<() => void>();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('taskloom.session');

const insideKey = 'taskloom.inside';

function mark(inside: boolean) {
  try {
    if (inside) localStorage.setItem(insideKey, '1');
    else localStorage.removeItem(insideKey);
  } catch {
    // Without storage the login page just always shows its form.
  }
}

/** Whether this browser may have a session: its cookie is not for scripts to see. */
export function wasInside(): boolean {
  try {
    return localStorage.getItem(insideKey) !== null;
  } catch {
    return false;
  }
}

function set(next: State) {
  state = next;
  for (const l of listeners) l();
}

/** Requests wait for what this returns. Nobody waits before anybody was logged in: the login page comes then. */
function lose(): Promise<void> | undefined {
  mark(false);
  if (!state.user) return undefined;
  if (!waiting) {
    let done = () => {};
    const promise = new Promise<void>((resolve) => {
      done = resolve;
    });
    waiting = { promise, done };
    set({ ...state, lost: true });
  }
  return waiting.promise;
}

/** Takes away what asks before the page is left. */
let unguard = () => {};

/**
 * Leaves the page and everything in memory behind. Pages that guard unsaved
 * work are not asked: it belongs to a session that is over.
 */
function leaveTo(path: string) {
  unguard();
  window.location.replace(path);
}

function regain() {
  const w = waiting;
  waiting = null;
  set({ ...state, lost: false });
  w?.done();
}

export const session = {
  get: () => state,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  /** The server said who this is. Another person than before gets a new app: then it answers false. */
  is(user: User): boolean {
    if (state.user && state.user.id !== user.id) {
      leaveTo('/');
      return false;
    }
    mark(true);
    if (!state.user) set({ user, lost: false });
    return true;
  },
  /** This tab logged in. */
  entered(user: User) {
    mark(true);
    channel?.postMessage({ kind: 'in', user: user.id } satisfies News);
    const other = state.user !== null && state.user.id !== user.id;
    if (other) leaveTo('/');
    else {
      set({ user, lost: false });
      regain();
    }
  },
  /** This tab logged out. */
  left(path = '/login') {
    mark(false);
    channel?.postMessage({ kind: 'out' } satisfies News);
    leaveTo(path);
  },
  /** Gives the lost session up. */
  abandon: leaveTo,
};

/** Another tab of this browser has the same cookie: its news are true here. */
export function hear(news: News, check: () => void) {
  if (!state.user) return;
  if (news.kind === 'out') check();
  else if (news.user !== state.user.id) leaveTo('/');
  else if (state.lost) regain();
}

/** Starts the session's part in requests; check asks the server who this is, free takes the pages' guards away. */
export function watchSession(check: () => void, free = () => {}): () => void {
  unguard = free;
  whenSessionLost(lose);
  const onNews = (e: MessageEvent<News>) => hear(e.data, check);
  channel?.addEventListener('message', onNews);
  return () => channel?.removeEventListener('message', onNews);
}

export function useSession(): State {
  return useSyncExternalStore(session.subscribe, session.get, session.get);
}
