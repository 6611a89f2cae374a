import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { checkAnswers } from '../check';
import { type Field, Form } from '../rules';
import { JSONInput } from './code';
import { NumberInput } from './number';

// The plain editor does.
vi.mock('@/lib/chunk', () => ({ chunk: () => () => new Promise(() => {}) }));
afterEach(cleanup);

let draft: unknown;
function Control({ field }: { field: Field }) {
  const [value, setValue] = useState<unknown>();
  draft = value;
  const Input = field.type === 'json' ? JSONInput : NumberInput;
  return <Input id="answer" label="answer" field={field} value={value} onChange={setValue} context={{}} />;
}

/** Shows the control of a field; the function says what would be handed in. */
function show(type: 'json' | 'number') {
  const field: Field = { name: 'answer', type, input: 'contributor' };
  const form = new Form([field]);
  render(
    <MantineProvider env="test">
      <Control field={field} />
    </MantineProvider>,
  );
  return () => checkAnswers(form, { answer: draft }, {});
}

test.each([
  ['json', '{"id": 1812345678901234567}', /put it in double quotes/, '{"id": "1812345678901234567"}'],
  ['json', '{"a": 1e400}', /put it in double quotes/, '{"a": "1e400"}'],
  ['number', '12345678901234567', /shorten the number/, '123456789012345'],
] as const)('%s: %s stays as it was typed, and is not handed in as another number', (type, text, advice, mended) => {
  const handedIn = show(type);
  const box = screen.getByLabelText('answer');
  fireEvent.change(box, { target: { value: text } });
  expect(box).toHaveProperty('value', text);
  expect(handedIn().problems).toHaveLength(1);
  expect(screen.getByText(advice)).toBeDefined();

  fireEvent.change(box, { target: { value: mended } });
  expect(box).toHaveProperty('value', mended);
  expect(handedIn()).toEqual({ kept: { answer: JSON.parse(mended) } });
  expect(screen.queryByText(advice)).toBeNull();
});
