import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { asksBeforeUnload, showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import { held } from '@/testing/held';
import { InviteDialog } from './InviteDialog';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('an invite that is on its way is waited for: its link is shown only once', async () => {
  const { answer, give } = held();
  consoleAPI({ 'POST /orgs/1/invites': () => answer });
  const close = vi.fn();
  showAt('/members', () => <InviteDialog where={{ orgId: 1 }} close={close} />);
  await userEvent.type(await screen.findByRole('textbox'), 'nova@x.test');
  const button = screen.getByRole('button', { name: 'Make the link' });
  await userEvent.click(button);
  await waitFor(() => expect(button).toHaveProperty('disabled', true));
  await userEvent.keyboard('{Escape}');
  expect(close).not.toHaveBeenCalled();
  expect(asksBeforeUnload()).toBe(true);
  give({ id: 7, email: 'nova@x.test', url: 'https://taskloom.test/invite#abc', expires_at: '2030-01-01T00:00:00Z' });
  expect(await screen.findByText('https://taskloom.test/invite#abc')).toBeDefined();
  await waitFor(() => expect(asksBeforeUnload()).toBe(false));
  await userEvent.keyboard('{Escape}');
  expect(close).toHaveBeenCalledOnce();
});
