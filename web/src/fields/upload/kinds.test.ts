import { expect, test } from 'vitest';
import { accepted } from '../engine/kinds/upload';
import { kindsOf } from './kinds';

test.each([
  ['take.webm', 'video/webm', 'audio/*', true],
  ['Take.M4A', 'audio/x-m4a', 'audio/mp4', true],
  ['notes.md', '', 'text/markdown', true],
  ['film.mp4', 'video/mp4', 'audio/*', false],
  ['notes.txt', 'text/plain', 'text/markdown', false],
  ['constructor', '', 'text/plain', false],
])('%s, a %s to the browser, for a field that takes %s: %s', (name, type, accept, taken) => {
  expect(kindsOf({ name, type }).some((kind) => accepted([accept], name, kind))).toBe(taken);
});
