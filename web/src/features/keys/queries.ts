import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { body, createKey, listKeys, revokeKey, setKeyExpiry } from '@/api';
import { live } from '@/app/query';
import type { Expiry } from './expiry';

export function keysQuery(orgId: number) {
  return queryOptions({
    queryKey: ['listKeys', orgId],
    queryFn: () => body(listKeys({ path: { org_id: orgId } })),
    refetchInterval: live * 3, // Last Used moves about once a minute
  });
}

function useKeyMutation<V, R>(orgId: number, mutationFn: (v: V) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => client.invalidateQueries({ queryKey: ['listKeys', orgId] }),
  });
}

/** The value is in the answer and nowhere else: it must not enter a cache. */
export function useCreateKey(orgId: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (key: { name: string; expires: Expiry }) => body(createKey({ path: { org_id: orgId }, body: key })),
    gcTime: 0,
    // Not waited for: the key is shown at once, whatever becomes of the list.
    onSuccess: () => void client.invalidateQueries({ queryKey: ['listKeys', orgId] }),
  });
}

export function useSetExpiry(orgId: number) {
  return useKeyMutation(orgId, ({ id, expires }: { id: number; expires: Expiry }) =>
    body(setKeyExpiry({ path: { org_id: orgId, key_id: id }, body: { expires } })),
  );
}

export function useRevokeKey(orgId: number) {
  return useKeyMutation(orgId, (id: number) => body(revokeKey({ path: { org_id: orgId, key_id: id } })));
}
