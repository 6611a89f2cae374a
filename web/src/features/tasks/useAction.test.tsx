import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { showAt } from '@/testing/browser';
import { held } from '@/testing/held';
import type { Action } from './actions';
import { useAction } from './useAction';

afterEach(cleanup);

function Page({ action }: { action: Action }) {
  const { ask, dialog } = useAction();
  return (
    <>
      {dialog}
      <button type="button" onClick={() => ask({ action, place: { pipelineId: 3, taskId: 12 }, what: 'task 12' })}>
        Ask
      </button>
    </>
  );
}

test('what is asked stays until its answer comes, which closes nothing else', async () => {
  const { answer, give } = held();
  const action = { id: 'requeue', label: 'Requeue', about: 'It goes back to the queue.', run: () => answer };
  showAt('/waiting', () => <Page action={action} />);
  await userEvent.click(await screen.findByText('Ask'));
  const dialog = within(await screen.findByRole('dialog'));
  const button = dialog.getByRole('button', { name: 'Requeue' });
  await userEvent.click(button);
  await waitFor(() => expect(button).toHaveProperty('disabled', true));
  await userEvent.keyboard('{Escape}');
  expect(screen.getByRole('dialog')).toBeDefined();
  expect(dialog.getByRole('button', { name: 'Back' })).toHaveProperty('disabled', true);
  give(null);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
