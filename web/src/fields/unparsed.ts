import { isObject, member } from './engine/value';

const key = '$unparsed';

/**
 * The text of a json control while it is no JSON, or holds a number that would become another, kept in the draft so
 * that nothing typed is lost. It is never submitted: checkAnswers refuses it.
 */
export function unparsed(text: string): Record<string, string> {
  return { [key]: text };
}

/** The text that is no answer yet; undefined for any other value. */
export function unparsedText(v: unknown): string | undefined {
  const text = member(v, key);
  return isObject(v) && Object.keys(v).length === 1 && typeof text === 'string' ? text : undefined;
}

/** Why such a text is no answer yet; undefined for any other value. */
export function unparsedFault(v: unknown): string | undefined {
  const text = unparsedText(v);
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return 'This is not valid JSON';
  }
  return 'A number here has more digits than can be kept: put it in double quotes';
}
