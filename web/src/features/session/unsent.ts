import { atMost } from '@/lib/atMost';

/**
 * Work that only this browser has. Logging out clears the browser's storage, so that the next person at it finds
 * nothing of this one: what was not handed in goes with it.
 */
type Flush = () => Promise<unknown>;
const live = new Set<Flush>();

/** How long logging out waits for what can still be sent, in milliseconds. */
const patience = 3000;

/** Sends what a page that is open has not sent yet, before the person logs out. Returns how to take it back. */
export function beforeLeaving(flush: Flush): () => void {
  live.add(flush);
  return () => {
    live.delete(flush);
  };
}

export async function sendUnsent(): Promise<void> {
  await atMost(patience, Promise.allSettled([...live].map((flush) => flush())));
}

const kinds = [
  { key: /^taskloom\.draft\.\d/, what: 'answers of', one: 'task', many: 'tasks' },
  { key: /^taskloom\.review\.\d/, what: 'comments on', one: 'review', many: 'reviews' },
  { key: /^taskloom\.builder\.\d/, what: 'changes of', one: 'pipeline', many: 'pipelines' },
];

/** What the server does not have, in words, of everybody who worked in this browser; "" for nothing. */
export function unsent(): string {
  try {
    const keys = Object.keys(localStorage).filter((key) => !key.startsWith('taskloom.draft.') || hasValues(key));
    const counted = kinds.map((k) => ({ ...k, n: things(keys, k.key) }));
    const words = counted.filter((k) => k.n > 0).map((k) => `${k.what} ${k.n} ${k.n === 1 ? k.one : k.many}`);
    return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' and ');
  } catch {
    return ''; // no storage keeps nothing
  }
}

/** Each page keeps its own copy of a draft, after an @. */
const things = (keys: string[], kind: RegExp) =>
  new Set(keys.filter((key) => kind.test(key)).map((key) => key.replace(/@.*/, ''))).size;

/** The copy of a draft that the server has all of is no loss. */
function hasValues(key: string): boolean {
  try {
    return Boolean(JSON.parse(localStorage.getItem(key) ?? '{}')?.values);
  } catch {
    return false;
  }
}
