import { useEffect, useRef, useState } from 'react';

/** What tabs of one browser tell each other about a task that several of them have open. */
type News = { place: string; from: string } & (
  | { kind: 'open' | 'here' | 'closed' | 'done' }
  | { kind: 'saved'; revision: number }
);

interface Handlers {
  onSaved: (revision: number) => void;
  /** It was handed in or given back there. */
  onDone: () => void;
}

export interface Tabs {
  /** The task is open in another tab, too. */
  others: boolean;
  saved: (revision: number) => void;
  done: () => void;
}

const me = Math.random().toString(36).slice(2);

/** Knows the other tabs that have the same work open. */
export function useTabs(place: string, handlers: Handlers): Tabs {
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  const channel = useRef<BroadcastChannel | null>(null);
  const current = useRef(handlers);
  useEffect(() => {
    current.current = handlers;
  });
  useEffect(() => {
    if (typeof BroadcastChannel === 'undefined') return;
    const c = new BroadcastChannel('taskloom.work');
    channel.current = c;
    const post = (kind: 'open' | 'here' | 'closed') => c.postMessage({ place, from: me, kind } satisfies News);
    c.onmessage = ({ data }: MessageEvent<News>) => {
      if (data.place !== place || data.from === me) return;
      if (data.kind === 'closed' || data.kind === 'done') {
        setOthers((old) => new Set([...old].filter((id) => id !== data.from)));
        if (data.kind === 'done') current.current.onDone();
        return;
      }
      setOthers((old) => (old.has(data.from) ? old : new Set([...old, data.from])));
      if (data.kind === 'open') post('here');
      if (data.kind === 'saved') current.current.onSaved(data.revision);
    };
    post('open');
    const leave = () => post('closed');
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
      c.close();
      channel.current = null;
      setOthers(new Set());
    };
  }, [place]);
  const [actions] = useState(() => ({
    saved: (revision: number) => send({ kind: 'saved', revision }),
    done: () => send({ kind: 'done' }),
  }));
  const at = useRef(place);
  useEffect(() => {
    at.current = place;
  });
  function send(news: { kind: 'saved'; revision: number } | { kind: 'done' }) {
    channel.current?.postMessage({ place: at.current, from: me, ...news } satisfies News);
  }
  return { others: others.size > 0, ...actions };
}
