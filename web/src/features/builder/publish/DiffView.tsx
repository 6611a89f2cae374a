import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense, useMemo } from 'react';
import { chunk } from '@/lib/chunk';
import { diff } from '@/pipeline/diff';

const DiffList = lazy(chunk(() => import('./DiffList')));

/** What turns one definition into another. It comes when it is looked at. */
export function DiffView(props: ComponentProps<typeof DiffList>) {
  return (
    <Suspense fallback={<Skeleton h={80} />}>
      <DiffList {...props} />
    </Suspense>
  );
}

/** How many differences there are, for a button. */
export function useChanges(before: unknown, after: unknown): number {
  return useMemo(() => (before ? diff(before, after).length : 0), [before, after]);
}
