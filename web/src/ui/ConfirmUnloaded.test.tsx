import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { ConfirmDialogs, confirm } from './ConfirmDialog';

// As after a new release: the code of the question is gone, however often it is asked for.
vi.mock('@/lib/chunk', () => ({ chunk: () => () => Promise.reject(new TypeError('gone')) }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function show() {
  vi.spyOn(console, 'error').mockImplementation(() => {}); // React tells of what the boundary catches
  render(
    <MantineProvider env="test">
      <p>the page</p>
      <ConfirmDialogs />
    </MantineProvider>,
  );
}

test('a question whose code cannot be fetched is asked by the browser, and the page stays', async () => {
  const native = vi.fn<(words: string) => boolean>().mockReturnValueOnce(true).mockReturnValueOnce(false);
  vi.stubGlobal('confirm', native);
  show();
  const body = (
    <>
      It has <b>3</b> tasks.
    </>
  );
  expect(await confirm({ title: 'Pause?', body, confirmLabel: 'Pause' })).toBe(true);
  expect(native.mock.calls).toEqual([['Pause?\n\nIt has 3 tasks.']]);
  expect(await confirm({ title: 'And now?', confirmLabel: 'Go' })).toBe(false);
  expect(screen.getByText('the page')).toBeDefined();
});

test('what needs a word needs it there, too', async () => {
  const native = vi.fn<(words: string) => string | null>().mockReturnValueOnce('no').mockReturnValueOnce('revoke');
  vi.stubGlobal('prompt', native);
  show();
  const question = { title: 'Revoke?', confirmLabel: 'Revoke key', typed: 'revoke' };
  expect(await confirm(question)).toBe(false);
  expect(await confirm(question)).toBe(true);
  expect(native.mock.calls[0]).toEqual(['Revoke?\n\nType revoke to go on.']);
});
