import { QueryClient, QueryClientProvider, useInfiniteQuery } from '@tanstack/react-query';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { consoleAPI } from '@/testing/claimPage';
import { tasksQuery } from './queries';

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('an age counts from each time the list is asked for, the same on all its pages', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T09:00:30Z') });
  const asked: string[] = [];
  consoleAPI({
    'GET /pipelines/3/tasks': (_, search) => {
      const cursor = search.get('cursor');
      asked.push(`${cursor ?? 'first'} after ${search.get('created_after')}`);
      return { tasks: [], has_more: cursor === null, next_cursor: cursor === null ? 'more' : null };
    },
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: React.ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const query = { ...tasksQuery(3, { age: '1h' }), refetchInterval: false as const };
  const { result } = renderHook(() => useInfiniteQuery(query), { wrapper });
  await waitFor(() => expect(result.current.isSuccess).toBe(true));
  // A page that comes later belongs to the list as it stands.
  vi.setSystemTime(Date.parse('2026-11-21T09:05:30Z'));
  await act(async () => {
    await result.current.fetchNextPage();
  });
  expect(asked.splice(0)).toEqual(['first after 2026-11-21T08:00:00.000Z', 'more after 2026-11-21T08:00:00.000Z']);

  vi.setSystemTime(Date.parse('2026-11-21T18:00:30Z'));
  await act(async () => {
    await result.current.refetch();
  });
  expect(asked).toEqual(['first after 2026-11-21T17:00:00.000Z', 'more after 2026-11-21T17:00:00.000Z']);
});
