import type { Place } from '../place';
import { list, quote } from '../quote';
import type { Field } from '../types';
import { isObject, itemsOf, member, shapeOf } from '../value';
import type { Kind } from './kind';

export const roles = ['system', 'user', 'assistant', 'tool'];

/** null stands for an absent key. */
const get = (v: unknown, key: string): unknown => member(v, key) ?? null;

/** chat: an array of messages, further keys allowed. */
export function chatKind(f: Field): Kind {
  const rules = f.rules ?? {};
  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array of messages', v);
        return;
      }
      at.count(v.length, rules.min_items, rules.max_items, 'message', 'messages');
      let last = '';
      for (const [i, m] of v.entries()) {
        if (at.full) return;
        last = checkMessage(m, at.item(i));
      }
      if (rules.last_role && last !== rules.last_role) {
        at.fail(`the last message must have the role ${quote(rules.last_role)}, got ${quote(last)}`);
      }
    },
  };
}

/** Checks one message and returns its role. */
function checkMessage(m: unknown, at: Place): string {
  if (!isObject(m)) {
    at.expect('a message: an object with "role" and "content"', m);
    return '';
  }
  const role = get(m, 'role');
  if (typeof role !== 'string' || !roles.includes(role)) {
    at.at('role').expect(`the role ${list(roles)}`, role);
    return '';
  }
  const calls = get(m, 'tool_calls');
  checkCalls(calls, at.at('tool_calls'));
  const content = get(m, 'content');
  if (content !== null) checkContent(content, at.at('content'));
  else if (role !== 'assistant' || itemsOf(calls).length === 0) {
    at.at('content').fail('content is missing; only an assistant message with tool_calls may go without');
  }
  const id = get(m, 'tool_call_id');
  if (id !== null && typeof id !== 'string') at.at('tool_call_id').expect('a text', id);
  checkThinking(get(m, 'thinking'), at.at('thinking'));
  return role;
}

function checkThinking(thinking: unknown, at: Place) {
  if (thinking !== null && !Array.isArray(thinking)) at.expect('an array of objects', thinking);
  for (const [i, block] of itemsOf(thinking).entries()) {
    if (!isObject(block)) at.item(i).expect('an object', block);
  }
}

function checkContent(v: unknown, at: Place) {
  if (typeof v === 'string') return;
  if (!Array.isArray(v)) {
    at.expect('a text, an array of content parts or null', v);
    return;
  }
  for (const [i, part] of v.entries()) {
    const type = get(part, 'type');
    if (!isObject(part) || typeof type !== 'string' || type === '') {
      at.item(i).expect('a content part: an object with a "type"', part);
    } else if (type === 'text' && typeof get(part, 'text') !== 'string') {
      at.item(i).at('text').expect('the text of the part', get(part, 'text'));
    }
  }
}

function checkCalls(v: unknown, at: Place) {
  if (v !== null && !Array.isArray(v)) at.expect('an array of tool calls', v);
  for (const [i, item] of itemsOf(v).entries()) {
    let call = item;
    let place = at.item(i);
    if (!isObject(call)) {
      place.expect('a tool call: an object with a "name"', call);
      continue;
    }
    const id = get(call, 'id');
    if (id !== null && typeof id !== 'string') place.at('id').expect('a text', id);
    const nested = get(call, 'function');
    if (nested !== null) {
      const type = get(call, 'type');
      if (type !== null && type !== 'function') place.at('type').expect('"function"', type);
      [call, place] = [nested, place.at('function')];
    }
    const name = get(call, 'name');
    if (typeof name !== 'string' || name === '') place.at('name').expect('the name of the tool', name);
    const args = get(call, 'arguments');
    if (!['null', 'object', 'text'].includes(shapeOf(args))) {
      place.at('arguments').expect('an object or a JSON-encoded text', args);
    }
  }
}
