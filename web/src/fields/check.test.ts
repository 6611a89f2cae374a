import { beforeAll, expect, test } from 'vitest';
import { checkAnswers } from './check';
import { compilePattern, loadPatterns } from './engine/pattern';
import { type Field, Form } from './rules';
import { readJSON } from './types/code';
import { optionKeys, stepKeys } from './types/keys';
import { readNumber } from './types/number';
import { unparsedText } from './unparsed';

beforeAll(() => loadPatterns());

const field = (f: Partial<Field> & Pick<Field, 'name' | 'type'>): Field => ({ input: 'contributor', ...f });

test('what is no JSON yet is kept as it was typed and not submitted', () => {
  const form = new Form([field({ name: 'data', type: 'json' })]);
  const typed = readJSON('{"a": ');
  expect(unparsedText(typed)).toBe('{"a": ');
  expect(checkAnswers(form, { data: typed }, {}).problems).toMatchObject([{ field: 'data' }]);
  expect(checkAnswers(form, { data: readJSON('{"a": 1}') }, {})).toEqual({ kept: { data: { a: 1 } } });
  expect(readJSON('  ')).toBeUndefined();
  expect(readJSON('null')).toBeNull();
});

test('media to be played and files on their way hold a submission back, in form order', () => {
  const form = new Form([
    field({ name: 'clip', type: 'video', input: 'seeded', rules: { played_fully: true } }),
    field({ name: 'name', type: 'short_text', required: true }),
    field({ name: 'proof', type: 'file_upload', required: true }),
  ]);
  const context = { clip: { url: 'https://example.com/v.mp4' } };
  const held = checkAnswers(form, {}, context, { played: new Set(), uploading: new Set(['proof']) });
  expect(held.problems?.map((p) => p.field)).toEqual(['clip', 'name', 'proof']);
  expect(held.problems?.[2]?.message).toContain('on its way');
  const broken = checkAnswers(form, {}, context, { uploading: new Set(), broken: new Set(['proof']) });
  expect(broken.problems?.find((p) => p.field === 'proof')?.message).toContain('did not arrive');
  const free = checkAnswers(form, {}, context, { played: new Set(['clip']) });
  expect(free.problems?.map((p) => p.field)).toEqual(['name', 'proof']);
  expect(checkAnswers(form, { name: 'x' }, {}, { played: new Set() }).problems?.map((p) => p.field)).toEqual(['proof']);
});

test('a typed number is a number only when it is one', () => {
  expect(readNumber('12.5')).toBe(12.5);
  expect(readNumber(' -3 ')).toBe(-3);
  expect(readNumber('1e3')).toBe(1000);
  expect(readNumber('')).toBeUndefined();
  for (const text of ['12,5', '1.', '-', '0x10', '١٢', '1e999', 'Infinity']) expect(readNumber(text)).toBe(text);
});

test('options have their own key, else the digit of their place', () => {
  expect(optionKeys([{ value: 'a' }, { value: 'b', hotkey: 'B' }, { value: 'c' }])).toEqual(['1', 'b', '3']);
  expect(optionKeys([{ value: 'a', hotkey: '2' }, { value: 'b' }])).toEqual(['2', undefined]);
  const many = optionKeys(Array.from({ length: 22 }, (_, i) => ({ value: String(i) })));
  expect([many[9], many[10], many[20]]).toEqual(['0', 'shift+1', undefined]);
  expect(stepKeys([0, 1, 10])).toEqual(['0', '1', 'shift+0']);
  expect(stepKeys([-2, -1, 0])).toEqual(['1', '2', '3']);
});

// With a backtracking engine this would not end.
test('a hostile pattern is matched like any other', () => {
  const pattern = compilePattern('(a+)+$');
  expect(pattern?.match(`${'a'.repeat(5000)}!`)).toBe('no');
  expect(compilePattern('(x+x+)+y')?.match('x'.repeat(5000))).toBe('no');
});

test('a text that would take long is left to the server, but not by a condition', () => {
  const pattern = compilePattern('.{0,400}b');
  const text = 'a'.repeat(8000);
  expect(pattern?.match(text)).toBe('unsure');
  expect(pattern?.holds(text)).toBe(false);
  expect(compilePattern('(?s).{1000,}')?.holds(text)).toBe(true);
});

test('what a condition remembers of one text it does not say of another', () => {
  const pattern = compilePattern('a+');
  expect(['aa', 'b', 'aa', ''].map((s) => pattern?.holds(s))).toEqual([true, false, true, false]);
});
