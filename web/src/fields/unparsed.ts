import { isObject, member } from './engine/value';

const key = '$unparsed';

/**
 * The text of a json control while it is no JSON, kept in the draft so that nothing typed is lost. It is never
 * submitted: checkAnswers refuses it.
 */
export function unparsed(text: string): Record<string, string> {
  return { [key]: text };
}

/** The text that is no JSON yet; undefined for any other value. */
export function unparsedText(v: unknown): string | undefined {
  const text = member(v, key);
  return isObject(v) && Object.keys(v).length === 1 && typeof text === 'string' ? text : undefined;
}
