import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyDefinition } from '@/pipeline/definition';
import { asksBeforeUnload, back, showAt } from '@/testing/browser';
import { consoleAPI } from '@/testing/claimPage';
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
  const queries = showAt('/build', () => (
    <BuilderProvider value={builder}>
      <YamlDialog opened onClose={onClose} flush={flush} onApply={() => {}} />
    </BuilderProvider>
  ));
  return { exported, queries };
}

test('a draft that is not saved is not edited as what the server has', async () => {
  const { exported } = show(async () => false);
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

test('a document that is edited stays when it cannot be written anew', async () => {
  let saved = true;
  const { queries } = show(async () => saved);
  const editor = await screen.findByLabelText('Document');
  await userEvent.clear(editor);
  await userEvent.type(editor, 'name: mine');
  saved = false;
  await queries.invalidateQueries();
  expect(queries.getQueryState(['exportPipeline', 3, 'draft'])?.status).toBe('error');
  await userEvent.type(screen.getByLabelText('Document'), ' alone');
  expect(screen.getByDisplayValue('name: mine alone')).toBeDefined();
  expect(screen.queryByText(/could not be saved/)).toBeNull();
});

test('Back, a reload and closing the tab ask before a document that was changed is lost', async () => {
  show(async () => true);
  const editor = await screen.findByLabelText('Document');
  expect(asksBeforeUnload()).toBe(false);
  await userEvent.clear(editor);
  await userEvent.type(editor, 'name: mine');
  expect(asksBeforeUnload()).toBe(true);
  await back();
  await userEvent.click(await screen.findByRole('button', { name: 'Go on editing' }));
  await waitFor(() => expect(window.location.pathname).toBe('/build'));
  expect(screen.getByDisplayValue('name: mine')).toBeDefined();
  await back();
  await userEvent.click(await screen.findByRole('button', { name: 'Discard the changes' }));
  expect(await screen.findByText('Home')).toBeDefined();
});
