import { useQuery } from '@tanstack/react-query';
import { queuesQuery } from '@/features/home/queries';
import { most } from '@/features/home/queues';

/** What the person could do now, as it is printed; undefined for nothing. */
export function useWorkCount(): string | undefined {
  const { data } = useQuery({ ...queuesQuery, refetchInterval: 15_000 });
  if (!data) return undefined;
  const n = data.queues.reduce((sum, q) => sum + q.available + q.returned + q.mine, 0);
  if (n === 0) return undefined;
  return most(n);
}
