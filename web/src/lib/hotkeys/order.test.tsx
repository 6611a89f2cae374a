import { cleanup, fireEvent, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { prefs } from '@/lib/prefs';
import { useHotkeys } from './index';

const page = vi.fn();
const part = vi.fn();

function Page({ parts }: { parts: readonly string[] }) {
  useHotkeys([{ keys: 'i', label: 'Instructions', group: 'Page', run: page }]);
  return parts.map((name) => <Part key={name} name={name} />);
}

function Part({ name }: { name: string }) {
  useHotkeys([{ keys: 'i', label: name, group: 'Part', run: () => part(name) }]);
  return null;
}

const press = () => fireEvent.keyDown(document.body, { key: 'i', code: 'KeyI' });

beforeEach(() => {
  prefs.set({ singleKeys: true });
  vi.clearAllMocks();
});
afterEach(cleanup);

test('a part overrides the page that it is mounted with', () => {
  render(<Page parts={['a field']} />);
  press();
  expect(part).toHaveBeenCalledExactlyOnceWith('a field');
  expect(page).not.toHaveBeenCalled();
});

test('a part that comes later overrides them all, and leaves the key behind when it goes', () => {
  const { rerender } = render(<Page parts={['a field']} />);
  rerender(<Page parts={['a field', 'a dialog']} />);
  press();
  expect(part).toHaveBeenLastCalledWith('a dialog');
  rerender(<Page parts={['a field']} />);
  press();
  expect(part).toHaveBeenLastCalledWith('a field');
  rerender(<Page parts={[]} />);
  press();
  expect(page).toHaveBeenCalledOnce();
});
