import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { prefs } from '@/lib/prefs';
import type { InputProps } from '../props';
import { DateInput, DatetimeInput, fromLocal } from './date';

beforeEach(() => prefs.set({ zone: 'utc' }));
afterEach(cleanup);

function show(Input: ComponentType<InputProps>, value: string, rules = {}) {
  const onChange = vi.fn();
  const field: InputProps['field'] = { name: 'at', type: 'datetime', input: 'contributor', rules };
  render(
    <MantineProvider env="test">
      <Input id="at" label="at" field={field} value={value} onChange={onChange} context={{}} />
    </MantineProvider>,
  );
  return { box: screen.getByLabelText('at'), onChange };
}

test('a moment that cannot be read is not an answer taken back', () => {
  const { box, onChange } = show(DatetimeInput, '2026-01-05T10:00:00Z');
  fireEvent.change(box, { target: { value: '20261-01-05T10:00' } });
  expect(onChange).not.toHaveBeenCalled();
  expect(box).toHaveProperty('value', expect.stringMatching(/^2026-01-05T10:00/));
  fireEvent.change(box, { target: { value: '2026-01-06T10:00' } });
  expect(onChange).toHaveBeenLastCalledWith('2026-01-06T10:00:00Z');
  fireEvent.change(box, { target: { value: '' } });
  expect(onChange).toHaveBeenLastCalledWith(undefined);
});

test('years have four digits, whatever the zone makes of them', () => {
  expect(fromLocal('9999-12-31T23:59:59', true)).toBe('9999-12-31T23:59:59Z');
  for (const text of ['20261-01-05T10:00', '202610-01-05T10:00', '+020261-01-05T10:00']) {
    expect(fromLocal(text, true)).toBeUndefined();
    expect(fromLocal(text, false)).toBeUndefined();
  }
});

test('the last day of the calendar bounds what has no other bound', () => {
  expect(show(DatetimeInput, '2026-01-05T10:00:00Z').box.getAttribute('max')).toBe('9999-12-31T23:59:59');
  cleanup();
  const rules = { max: '2027-01-01T00:00:00Z' };
  expect(show(DatetimeInput, '2026-01-05T10:00:00Z', rules).box.getAttribute('max')).toBe('2027-01-01T00:00:00');
  cleanup();
  expect(show(DateInput, '2026-01-05').box.getAttribute('max')).toBe('9999-12-31');
  cleanup();
  expect(show(DateInput, '2026-01-05', { max: '2027-01-01' }).box.getAttribute('max')).toBe('2027-01-01');
});
