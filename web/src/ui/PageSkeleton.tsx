import { Skeleton, Stack } from '@mantine/core';

/** A page that is not there yet, in about its shape. */
export function PageSkeleton() {
  return (
    <Stack gap="lg" aria-busy="true">
      <Skeleton h={28} w="min(260px, 60%)" />
      <RowsSkeleton />
    </Stack>
  );
}

/** A list that is not there yet. */
export function RowsSkeleton({ rows = 6, height = 34 }: { rows?: number; height?: number }) {
  return (
    <Stack gap={8} aria-busy="true">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <Skeleton key={i} h={height} opacity={1 - i / (rows + 2)} />
      ))}
    </Stack>
  );
}
