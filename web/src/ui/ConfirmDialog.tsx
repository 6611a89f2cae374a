import { lazy, type ReactNode, Suspense, useEffect, useSyncExternalStore } from 'react';
import { chunk } from '@/lib/chunk';
import { askPlainly } from './askPlainly';
import { Fallback } from './Fallback';

export interface Confirmation {
  title: string;
  /** What will happen, in words and numbers. */
  body?: ReactNode;
  /** The verb: "Revoke key", not "OK". Without one there is nothing to say yes to. */
  confirmLabel?: string;
  cancelLabel?: string;
  /** A word to type first, for what cannot be undone. */
  typed?: string;
  danger?: boolean;
}

/** A question that waits for its answer. */
export interface Pending extends Confirmation {
  id: number;
  answer: (yes: boolean) => void;
}

let pending: Pending | null = null;
let asked = 0;
const listeners = new Set<() => void>();

function put(next: Pending | null) {
  pending = next;
  for (const l of listeners) l();
}

/** Asks before something with consequences. False when it was closed in any other way. */
export function confirm(what: Confirmation): Promise<boolean> {
  pending?.answer(false);
  return new Promise((resolve) => {
    asked++;
    put({
      ...what,
      id: asked,
      answer: (yes) => {
        put(null);
        resolve(yes);
      },
    });
  });
}

/** Fetches what a question is shown with, so that the first one need not wait for it. */
export const loadQuestion = chunk(() => import('./ConfirmQuestion'));
const Question = lazy(loadQuestion);

/** Where confirm() shows its questions. The app has one. */
export function ConfirmDialogs() {
  const question = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pending,
  );
  if (!question) return null;
  return (
    <Fallback key={question.id} show={<Plain {...question} />}>
      <Suspense>
        <Question {...question} />
      </Suspense>
    </Fallback>
  );
}

/** The question in the browser's own words, where the app's cannot be fetched: the server is away, or has a new release. */
function Plain(question: Pending) {
  useEffect(() => {
    if (pending?.id === question.id) question.answer(askPlainly(question));
  }, [question]);
  return null;
}
