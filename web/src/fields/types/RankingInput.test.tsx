import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import type { InputProps } from '../props';
import RankingInput from './RankingInput';
import { SpansInput } from './spans';

afterEach(cleanup);

/** Shows the control of a required field of which the source has changed; the function gets what it answers. */
function show(type: 'ranking' | 'text_spans', value: unknown, source: unknown) {
  const onChange = vi.fn();
  const field: InputProps['field'] = { name: 'f', type, input: 'contributor', source: 'from', required: true };
  const Input: ComponentType<InputProps> = type === 'ranking' ? RankingInput : SpansInput;
  render(
    <MantineProvider env="test">
      <Input id="f" label="f" field={field} value={value} onChange={onChange} context={{ from: source }} />
    </MantineProvider>,
  );
  return onChange;
}

test('a ranking that lost an item is handed in without it, also when nothing is left to move', () => {
  const onChange = show('ranking', ['a', 'b'], ['a']);
  fireEvent.click(screen.getByRole('button', { name: 'Keep this order' }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(['a']);
});

test('a ranking that says all there is has nothing to keep', () => {
  show('ranking', ['b', 'a'], ['a', 'b']);
  expect(screen.queryByRole('button', { name: 'Keep this order' })).toBeNull();
});

test.each([
  ['ranking', ['a', 'b'], []],
  ['text_spans', [{ start: 0, end: 1, label: 'x' }], ''],
] as const)('the answer of a %s is taken back when its source is empty', (type, value, source) => {
  const onChange = show(type, value, source);
  fireEvent.click(screen.getByRole('button', { name: 'Take the answer back' }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(undefined);
});

test('without an answer there is nothing to take back', () => {
  show('ranking', undefined, []);
  expect(screen.getByText('There is nothing to rank yet.')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});
