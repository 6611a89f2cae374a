import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it } from 'vitest';
import { ConfirmDialogs, confirm } from './ConfirmDialog';

afterEach(cleanup);

function show() {
  render(
    <MantineProvider env="test">
      <ConfirmDialogs />
    </MantineProvider>,
  );
}

it('waits for the word, and takes no other', async () => {
  show();
  const answer = confirm({ title: 'Revoke?', confirmLabel: 'Revoke key', typed: 'revoke', danger: true });
  const button = await screen.findByRole('button', { name: 'Revoke key' });
  const word = screen.getByRole('textbox');
  expect(button).toHaveProperty('disabled', true);
  await userEvent.type(word, 'revok{Enter}');
  expect(button).toHaveProperty('disabled', true);
  await userEvent.type(word, 'e{Enter}');
  expect(await answer).toBe(true);
  await waitFor(() => expect(screen.queryByText('Revoke?')).toBeNull());
});

it('is a no when it is closed, or when another question comes', async () => {
  show();
  const first = confirm({ title: 'One?', confirmLabel: 'Yes' });
  await screen.findByText('One?');
  const second = confirm({ title: 'Two?', confirmLabel: 'Yes' });
  expect(await first).toBe(false);
  await screen.findByText('Two?');
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(await second).toBe(false);
});

it('only tells, where there is nothing to say yes to', async () => {
  show();
  const answer = confirm({ title: 'Not now', body: 'First this.' });
  await screen.findByText('First this.');
  const dialog = within(screen.getByRole('dialog'));
  expect(dialog.queryByRole('button', { name: 'Cancel' })).toBeNull();
  await userEvent.click(dialog.getByRole('button', { name: 'Close' }));
  expect(await answer).toBe(false);
});
