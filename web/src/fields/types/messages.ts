import { isObject, itemsOf, type JSONObject, member } from '../engine/value';

/** A tool call, flat or nested, as one reads it. */
export interface Call {
  name: string;
  args: string;
}

/** The texts of a message's content: the text itself, or those of its parts; other parts by their type. */
export function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return itemsOf(content).map((part) => {
    const text = member(part, 'text');
    return typeof text === 'string' ? text : `[${String(member(part, 'type') ?? 'part')}]`;
  });
}

export function callsOf(message: unknown): Call[] {
  return itemsOf(member(message, 'tool_calls')).map((call) => {
    const inner = isObject(member(call, 'function')) ? member(call, 'function') : call;
    const args = member(inner, 'arguments');
    return {
      name: String(member(inner, 'name') ?? 'tool'),
      args: typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args, null, 2),
    };
  });
}

export function roleOf(message: unknown): string {
  return String(member(message, 'role') ?? 'message');
}

/** The message with another text; its other keys stay. */
export function withText(message: unknown, text: string): JSONObject {
  return { ...(isObject(message) ? message : {}), content: text };
}

/** Whose turn it is after a message. */
export function nextRole(messages: readonly unknown[]): string {
  const last = roleOf(messages.at(-1));
  return last === 'user' ? 'assistant' : 'user';
}
