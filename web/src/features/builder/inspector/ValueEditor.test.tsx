import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CodeEditorProps } from '@/fields/types/CodeEditor';
import type { Field } from '@/pipeline/definition';
import { ValueEditor } from './ValueEditor';
import '@/fields/registry'; // the editor fetches it when it is needed: here it is there

vi.mock('@/fields/types/CodeEditor', () => ({
  default: ({ value, onChange, label }: CodeEditorProps) => (
    <textarea aria-label={label} value={value} onChange={(e) => onChange?.(e.currentTarget.value)} />
  ),
}));
beforeEach(() => vi.clearAllMocks());
afterEach(cleanup);

const saved = vi.fn();

function Panel() {
  const [field, setField] = useState<Field>({ name: 'sample', type: 'json', input: 'static', value: { a: 0 } });
  return (
    <MantineProvider env="test">
      <ValueEditor
        field={field}
        onChange={(value) => {
          saved(value);
          setField({ ...field, value });
        }}
      />
      <button type="button" onClick={() => setField({ ...field, value: { b: 1 } })}>
        Undo
      </button>
    </MantineProvider>
  );
}

const box = () => screen.getByRole('textbox');
const write = (text: string) => fireEvent.change(box(), { target: { value: text } });

test.each([
  ['{"a":', '{"a": 1}'],
  ['{"id": 1812345678901234567}', '{"id": "1812345678901234567"}'],
])('%s is not saved as a value, and says so until it is one', async (text, mended) => {
  render(<Panel />);
  await screen.findByRole('textbox');
  write(text);
  expect(saved).not.toHaveBeenCalled();
  expect(box()).toHaveProperty('value', text);
  expect(screen.getByText(/not what is saved/)).toBeDefined();

  write(mended);
  expect(saved).toHaveBeenCalledExactlyOnceWith(JSON.parse(mended));
  expect(box()).toHaveProperty('value', mended);
  expect(screen.queryByText(/not what is saved/)).toBeNull();
});

test('a text that is no value gives way to another value, and can be cleared', async () => {
  render(<Panel />);
  await screen.findByRole('textbox');
  write('{"a":');
  fireEvent.click(screen.getByText('Undo'));
  expect(JSON.parse((box() as HTMLTextAreaElement).value)).toEqual({ b: 1 });
  expect(screen.queryByText(/not what is saved/)).toBeNull();
  write('{"b":');
  fireEvent.click(screen.getByText('Clear'));
  expect(saved).toHaveBeenCalledExactlyOnceWith(undefined);
  expect(box()).toHaveProperty('value', '');
});
