import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { asksBeforeUnload, back, showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import { held } from '@/testing/held';
import KeysPage from './KeysPage';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const made = { id: 5, name: 'nightly', value: 'pk_live_5', last4: 've_5' };

/** Asks for a key; the function gives the answer. */
async function create() {
  const { answer, give } = held();
  let listed = 0; // the list does not come again, which no new key waits for
  consoleAPI({
    'GET /orgs/1/keys': () => (listed++ === 0 ? { keys: [] } : new Promise(() => {})),
    'POST /orgs/1/keys': () => answer,
  });
  showAt('/orgs/1/keys', KeysPage, '/orgs/$orgId/keys');
  await userEvent.click(await screen.findByRole('button', { name: 'Create key' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.type(dialog.getByRole('textbox'), 'nightly');
  const button = dialog.getByRole('button', { name: 'Create key' });
  await userEvent.click(button);
  await waitFor(() => expect(button).toHaveProperty('disabled', true));
  return () => give(made);
}

test('a key that is on its way is shown, whatever is pressed until then', async () => {
  const give = await create();
  await userEvent.keyboard('{Escape}');
  expect(screen.getByRole('button', { name: 'Cancel' })).toHaveProperty('disabled', true);
  expect(asksBeforeUnload()).toBe(true);
  give();
  expect(await screen.findByTestId('key')).toHaveProperty('textContent', 'pk_live_5');
});

test('Back does not take a key away before it is stored', async () => {
  const give = await create();
  give();
  await screen.findByTestId('key');
  await waitFor(() => expect(asksBeforeUnload()).toBe(true));
  await back();
  await waitFor(() => expect(window.location.pathname).toBe('/orgs/1/keys'));
  expect(screen.getByTestId('key')).toBeDefined();
  await userEvent.click(screen.getByLabelText('I stored it'));
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(asksBeforeUnload()).toBe(false));
  expect(screen.queryByTestId('key')).toBeNull();
  await back();
  expect(await screen.findByText('Home')).toBeDefined();
});
