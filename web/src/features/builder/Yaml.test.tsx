import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyDefinition } from '@/pipeline/definition';
import { consoleAPI } from '@/testing/claimPage';
import { ConfirmDialogs } from '@/ui/ConfirmDialog';
import { type Builder, BuilderProvider } from './state/context';
import { YamlDialog } from './Yaml';

vi.mock('./YamlEditor', () => ({
  default: ({ value, onChange }: { value: string; onChange: (text: string) => void }) => (
    <textarea aria-label="Document" value={value} onChange={(e) => onChange(e.currentTarget.value)} />
  ),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(flush: () => Promise<boolean>, onClose = () => {}) {
  const exported = vi.fn(() => ({ document: 'name: theirs' }));
  consoleAPI({ 'GET /pipelines/3/export': exported });
  const builder = { id: 3, projectId: 1, doc: { definition: emptyDefinition('mine'), layout: {} } } as Builder;
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <BuilderProvider value={builder}>
          <ConfirmDialogs />
          <YamlDialog opened onClose={onClose} flush={flush} onApply={() => {}} />
        </BuilderProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return exported;
}

test('a draft that is not saved is not edited as what the server has', async () => {
  const exported = show(async () => false);
  expect(await screen.findByText(/could not be saved/)).toBeDefined();
  expect(screen.queryByDisplayValue('name: theirs')).toBeNull();
  expect(exported).not.toHaveBeenCalled();
});

test('a draft that is saved is edited as it is', async () => {
  show(async () => true);
  expect(await screen.findByDisplayValue('name: theirs')).toBeDefined();
});

test('a document that was changed is not closed by Escape, and by Cancel only after a question', async () => {
  const onClose = vi.fn();
  show(async () => true, onClose);
  const editor = await screen.findByLabelText('Document');
  await userEvent.clear(editor);
  await userEvent.type(editor, 'name: mine');
  await userEvent.keyboard('{Escape}');
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Go on editing' }));
  expect(onClose).not.toHaveBeenCalled();
  expect(screen.getByDisplayValue('name: mine')).toBeDefined();
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Discard the changes' }));
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
});

test('a document that was not changed closes as any dialog', async () => {
  const onClose = vi.fn();
  show(async () => true, onClose);
  await screen.findByLabelText('Document');
  await userEvent.keyboard('{Escape}');
  expect(onClose).toHaveBeenCalledOnce();
});
