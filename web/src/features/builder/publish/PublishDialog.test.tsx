import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyDefinition } from '@/pipeline/definition';
import { showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
import { held } from '@/testing/held';
import type { Draft } from '../queries';
import { type Builder, BuilderProvider } from '../state/context';
import { PublishDialog } from './PublishDialog';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('what is being published is not closed before the answer closes it', async () => {
  const { answer, give } = held();
  const definition = emptyDefinition('mine');
  consoleAPI({
    'GET /pipelines/3': () => ({ draft: definition, revision: 4 }),
    'POST /pipelines/3/publish': () => answer,
  });
  const builder = { id: 3, doc: { definition, layout: {} }, problems: [] } as unknown as Builder;
  const onClose = vi.fn();
  showAt('/build', () => (
    <BuilderProvider value={builder}>
      <PublishDialog
        opened
        onClose={onClose}
        draft={{ version: 0, status: 'DRAFT' } as unknown as Draft}
        flush={async () => true}
        check={{ checking: false, error: null, recheck: () => {} }}
        onJump={() => {}}
      />
    </BuilderProvider>
  ));
  const button = await screen.findByRole('button', { name: 'Publish' });
  await userEvent.click(button);
  await waitFor(() => expect(button).toHaveProperty('disabled', true));
  await userEvent.keyboard('{Escape}');
  expect(onClose).not.toHaveBeenCalled();
  expect(screen.getByRole('button', { name: 'Cancel' })).toHaveProperty('disabled', true);
  give({ status: 'ACTIVE', version: 1 });
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});
