import { useEffect, useRef, useState } from 'react';
import { asAPIError, useReachable } from '@/api';
import { waitAfter } from './repeat';

/** What is known of a hand-in: a mutation of TanStack. */
interface HandIn<V> {
  variables: V | undefined;
  error: unknown;
  isPending: boolean;
  reset: () => void;
}

export interface Unanswered {
  /** It may have been done: nothing else can be handed in before that is known. */
  open: boolean;
  error: unknown;
  repeating: boolean;
  repeat: () => void;
  /** Gives the knowledge up, to hand in something else. */
  change: () => void;
}

/**
 * A hand-in without an answer may have been done: then its claim is over, and who sends the same again gets the answer
 * it missed, while anything else is refused. So the same is sent again, by itself when the server was away or says that
 * the claim is over. `over` is that word; `giveUp` is told when the person will hand in something else.
 */
export function useUnanswered<V>(
  handIn: HandIn<V>,
  over: boolean,
  send: (what: V) => void,
  giveUp: () => void,
): Unanswered {
  const reachable = useReachable();
  const [repeats, setRepeats] = useState(0);
  const { variables, error, isPending } = handIn;
  const err = error ? asAPIError(error) : undefined;
  // A 429 was refused before anything was done; one before it may have been done.
  const lost = !isPending && err !== undefined && err.transient && (err.status !== 429 || repeats > 0);
  const settled = !isPending && !lost;
  useEffect(() => {
    if (settled) setRepeats(0);
  }, [settled]);

  const repeat = () => {
    if (isPending || variables === undefined) return;
    setRepeats((n) => n + 1);
    send(variables);
  };
  const latest = useRef(repeat);
  useEffect(() => {
    latest.current = repeat;
  });
  const byItself = lost && reachable && (over || err.away);
  const asked = err?.retryAfter ?? 0;
  useEffect(() => {
    if (!byItself) return;
    const timer = setTimeout(() => latest.current(), waitAfter(repeats, asked));
    return () => clearTimeout(timer);
  }, [byItself, asked, repeats]);

  const change = () => {
    handIn.reset();
    giveUp();
  };
  return { open: lost || (isPending && repeats > 0), error, repeating: isPending, repeat, change };
}
