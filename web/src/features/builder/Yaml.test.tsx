import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useEffect } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { type Definition, emptyDefinition } from '@/pipeline/definition';
import { asksBeforeUnload, back, showAt } from '@/testing/browser';
import { consoleAPI, Refused } from '@/testing/claimPage';
import { held } from '@/testing/held';
import { type Builder, BuilderProvider } from './state/context';
import { YamlDialog } from './Yaml';

/** As often as the editor was given other faults, and went to the first of them. */
let went = 0;
vi.mock('./YamlEditor', () => ({
  default: (p: { value: string; onChange: (text: string) => void; readOnly?: boolean; faults: readonly unknown[] }) => {
    // biome-ignore lint/correctness/useExhaustiveDependencies: other faults are what the editor looks at
    useEffect(() => {
      went += 1;
    }, [p.faults]);
    return (
      <textarea
        aria-label="Document"
        value={p.value}
        onChange={(e) => p.onChange(e.currentTarget.value)}
        readOnly={p.readOnly}
      />
    );
  },
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(flush: () => Promise<boolean>, onClose = () => {}, onApply = (_: Definition) => {}) {
  const exported = vi.fn(() => ({ document: 'name: theirs' }));
  const routes = consoleAPI({ 'GET /pipelines/3/export': exported });
  const builder = { id: 3, projectId: 1, doc: { definition: emptyDefinition('mine'), layout: {} } } as Builder;
  const queries = showAt('/build', () => (
    <BuilderProvider value={builder}>
      <YamlDialog opened onClose={onClose} flush={flush} onApply={onApply} />
    </BuilderProvider>
  ));
  return { exported, queries, routes };
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

test('a document that is being applied is neither edited nor closed before the answer closes it', async () => {
  const { answer, give } = held();
  const onClose = vi.fn();
  const onApply = vi.fn();
  const { routes } = show(async () => true, onClose, onApply);
  routes['POST /projects/1/parse'] = async (sent) => {
    await answer;
    return { definition: emptyDefinition((sent as { document: string }).document) };
  };
  const editor = await screen.findByLabelText('Document');
  await userEvent.clear(editor);
  await userEvent.type(editor, 'name: mine');
  await userEvent.click(screen.getByRole('button', { name: 'Apply to the draft' }));
  await waitFor(() => expect(editor).toHaveProperty('readOnly', true));
  await userEvent.type(editor, ' too');
  expect(screen.getByDisplayValue('name: mine')).toBeDefined();
  expect(screen.getByRole('button', { name: 'Cancel' })).toHaveProperty('disabled', true);
  await userEvent.click(document.querySelector('.mantine-Modal-close') as Element);
  await back();
  await waitFor(() => expect(window.location.pathname).toBe('/build'));
  expect(screen.queryByText('Close without applying?')).toBeNull();
  expect(onClose).not.toHaveBeenCalled();
  give(undefined);
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(onApply.mock.calls).toEqual([[emptyDefinition('name: mine')]]);
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

test('who mends a document that was refused is not taken back to its fault at each key', async () => {
  const { routes } = show(async () => true);
  routes['POST /projects/1/parse'] = () => {
    throw new Refused(422, 'line 1: unknown field "nam"');
  };
  const editor = await screen.findByLabelText('Document');
  await userEvent.type(editor, ' x');
  await userEvent.click(screen.getByRole('button', { name: 'Apply to the draft' }));
  expect(await screen.findByText('The document cannot be read')).toBeDefined();
  const before = went;
  await userEvent.type(editor, 'yz');
  expect(screen.getByDisplayValue('name: theirs xyz')).toBeDefined();
  expect(went).toBe(before);
});
