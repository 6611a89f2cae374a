import { expect, test } from 'vitest';
import { createSnippet, shellQuoted, withoutExample } from './snippet';

test('the snippet sends the example to this pipeline', () => {
  const text = createSnippet('http://h', 7, {
    fields: { level: 'easy', shown: { url: 'https://e.org/a.png' } },
    upload: false,
  });
  expect(text).toContain('curl -sS http://h/api/v1/workflows/7/tasks \\');
  expect(text).toContain(`-d '{"tasks":[{"fields":{"level":"easy","shown":{"url":"https://e.org/a.png"}}}]}'`);
  expect(text).not.toContain('upload');
  expect(text).not.toContain('pk_live');
});

test('files go in as an archive, in three calls', () => {
  const text = createSnippet('http://h', 7, { fields: { scan: 'files/example.png' }, upload: true });
  const calls = [
    'curl -sS http://h/api/v1/workflows/7/tasks/upload \\',
    '{"scan":"files/example.png"}',
    'curl -sS -X PUT "$UPLOAD_URL"',
    'curl -sS -X POST http://h/api/v1/workflows/7/tasks/upload/$UPLOAD_ID/confirm',
  ];
  const at = calls.map((c) => text.indexOf(c));
  expect(at).not.toContain(-1);
  expect(at).toEqual([...at].sort((a, b) => a - b));
  expect(text).not.toContain('/workflows/7/tasks \\');
});

test('a quote in a value does not end the shell word', () => {
  expect(shellQuoted("a'b")).toBe(`'a'\\''b'`);
  expect(createSnippet('http://h', 7, { fields: { q: "The child's" }, upload: false })).toContain(`The child'\\''s`);
});

test('fields without an example are named', () => {
  expect(withoutExample({ fields: { a: 'x', b: null, c: 0 }, upload: false })).toEqual(['b']);
});
