import type { Problem } from './engine/types';

/** A problem as the person reads it at the field: the field is not named again, and it is a sentence. */
export function problemText(p: Problem): string {
  if (/^field ".*" is required/s.test(p.message)) return 'This needs an answer.';
  const text = p.message.charAt(0).toUpperCase() + p.message.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
