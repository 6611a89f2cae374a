import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyDefinition } from '@/pipeline/definition';
import { consoleAPI } from '@/testing/claimPage';
import { type Builder, BuilderProvider } from './state/context';
import { YamlDialog } from './Yaml';

vi.mock('./YamlEditor', () => ({ default: ({ value }: { value: string }) => <pre>{value}</pre> }));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(flush: () => Promise<boolean>) {
  const exported = vi.fn(() => ({ document: 'name: theirs' }));
  consoleAPI({ 'GET /pipelines/3/export': exported });
  const builder = { id: 3, projectId: 1, doc: { definition: emptyDefinition('mine'), layout: {} } } as Builder;
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <BuilderProvider value={builder}>
          <YamlDialog opened onClose={() => {}} flush={flush} onApply={() => {}} />
        </BuilderProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return exported;
}

test('a draft that is not saved is not edited as what the server has', async () => {
  const exported = show(async () => false);
  expect(await screen.findByText(/could not be saved/)).toBeDefined();
  expect(screen.queryByText('name: theirs')).toBeNull();
  expect(exported).not.toHaveBeenCalled();
});

test('a draft that is saved is edited as it is', async () => {
  show(async () => true);
  expect(await screen.findByText('name: theirs')).toBeDefined();
});
