import type { CreateKeyRequest, Key } from '@/api';

export type Expiry = CreateKeyRequest['expires'];

const dayMs = 86_400_000;
/** Keys that end sooner than this are shown in amber: time enough to replace one. */
const soonMs = 14 * dayMs;

export const expiries: { value: Expiry; label: string }[] = [
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
  { value: '1y', label: '1 year' },
  { value: 'never', label: 'No expiry' },
];

/** About when a key ends that gets this expiry now; the server says exactly. */
export function endsAt(expires: Expiry, now: number): Date | null {
  if (expires === 'never') return null;
  const end = new Date(now);
  if (expires === '1y') end.setUTCFullYear(end.getUTCFullYear() + 1);
  else end.setTime(now + (expires === '30d' ? 30 : 90) * dayMs);
  return end;
}

export type KeyState = 'active' | 'soon' | 'expired' | 'revoked';

export function stateOf(key: Pick<Key, 'expires_at' | 'revoked_at'>, now: number): KeyState {
  if (key.revoked_at) return 'revoked';
  if (!key.expires_at) return 'active';
  const left = Date.parse(key.expires_at) - now;
  if (left <= 0) return 'expired';
  return left < soonMs ? 'soon' : 'active';
}

/** A call that shows that the key works, to be pasted into a shell. */
export function curlOf(key: string, origin: string, pipelineId: number | undefined): string {
  return [
    `curl -sS '${origin}/api/v1/workflows/${pipelineId ?? 'WORKFLOW_ID'}/tasks?limit=1' \\`,
    `  -H 'Authorization: Bearer ${key}'`,
  ].join('\n');
}
