import { expect, test } from 'vitest';
import type { Definition } from '@/pipeline/definition';
import { createSnippet, exampleValue, seedFields, shellQuoted } from './snippet';

const def: Definition = {
  name: 'x',
  nodes: [
    { key: 'start', kind: 'start' },
    {
      key: 'solve',
      kind: 'subtask',
      fields: [
        { name: 'question', title: "The child's question", type: 'long_text', input: 'seeded' },
        { name: 'answer', type: 'short_text', input: 'contributor' },
        { name: 'level', type: 'select', input: 'seeded', options: [{ value: 'easy' }] },
      ],
    },
    { key: 'end', kind: 'end' },
  ],
  edges: [],
};

test('the snippet names this pipeline and its seeded fields only', () => {
  const text = createSnippet('http://h', 7, seedFields(def));
  expect(text).toContain('http://h/api/v1/workflows/7/tasks');
  expect(text).toContain('"level":"easy"');
  expect(text).not.toContain('answer');
  expect(text).not.toContain('pk_live');
});

test('a quote in a title does not end the shell word', () => {
  expect(shellQuoted("a'b")).toBe(`'a'\\''b'`);
  expect(createSnippet('http://h', 7, seedFields(def))).toContain(`The child'\\''s question`);
});

test('examples fit the type', () => {
  expect(exampleValue({ name: 'n', type: 'integer', input: 'seeded', rules: { min: 5 } })).toBe(5);
  expect(
    exampleValue({ name: 't', type: 'table', input: 'seeded', columns: [{ name: 'a', type: 'short_text' }] }),
  ).toEqual([{ a: '…' }]);
});
