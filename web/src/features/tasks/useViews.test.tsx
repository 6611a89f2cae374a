import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { consoleAPI } from '@/testing/claimPage';
import { useViews } from './views';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('a view is added to what the server has by now, not to what was known here', async () => {
  const key = 'views.tasks.3';
  let stored: unknown = [{ name: 'a', filters: {} }];
  consoleAPI({
    'GET /me/settings': () => ({ settings: { [key]: stored } }),
    [`PUT /me/settings/${key}`]: (sent) => {
      stored = (sent as { value: unknown }).value;
      return null;
    },
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useViews(3), { wrapper });
  await waitFor(() => expect(result.current.views).toHaveLength(1));
  stored = [...(stored as unknown[]), { name: 'of another tab', filters: {} }];
  await result.current.add({ name: 'c', filters: {} });
  expect((stored as { name: string }[]).map((v) => v.name)).toEqual(['a', 'of another tab', 'c']);
  await waitFor(() => expect(result.current.views).toHaveLength(3));
  await result.current.remove('a');
  expect((stored as { name: string }[]).map((v) => v.name)).toEqual(['of another tab', 'c']);
});
