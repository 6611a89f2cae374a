import { isValidElement, type ReactNode } from 'react';
import type { Confirmation } from './ConfirmDialog';

/** Asks in a dialog of the browser's own, which needs no code of the app, and waits for the answer. */
export function askPlainly({ title, body, typed, confirmLabel }: Confirmation): boolean {
  const words = [title, wordsOf(body), typed && `Type ${typed} to go on.`].filter(Boolean).join('\n\n');
  if (!confirmLabel) {
    window.alert(words);
    return false;
  }
  return typed ? window.prompt(words)?.trim() === typed : window.confirm(words);
}

/** What stands in a text with marks, without them. */
function wordsOf(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(wordsOf).join('');
  return isValidElement<{ children?: ReactNode }>(node) ? wordsOf(node.props.children) : '';
}
