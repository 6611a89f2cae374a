import { expect, it } from 'vitest';
import { curlOf, endsAt, stateOf } from './expiry';

const now = Date.parse('2026-03-01T12:00:00Z');
const inDays = (n: number) => new Date(now + n * 86_400_000).toISOString();

it('counts expiries from now', () => {
  expect(endsAt('30d', now)?.toISOString()).toBe('2026-03-31T12:00:00.000Z');
  expect(endsAt('90d', now)?.toISOString()).toBe('2026-05-30T12:00:00.000Z');
  expect(endsAt('1y', now)?.toISOString()).toBe('2027-03-01T12:00:00.000Z');
  expect(endsAt('never', now)).toBeNull();
});

it.each([
  [null, null, 'active'],
  [inDays(15), null, 'active'],
  [inDays(13), null, 'soon'],
  [inDays(-1), null, 'expired'],
  [inDays(0), null, 'expired'],
  [inDays(-1), inDays(-2), 'revoked'],
])('a key that expires at %s and was revoked at %s is %s', (expires_at, revoked_at, state) => {
  expect(stateOf({ expires_at, revoked_at }, now)).toBe(state);
});

it('makes a command that a shell takes as it is', () => {
  expect(curlOf('pk_live_ab', 'https://t.example', 7)).toBe(
    "curl -sS 'https://t.example/api/v1/workflows/7/tasks?limit=1' \\\n  -H 'Authorization: Bearer pk_live_ab'",
  );
  expect(curlOf('k', 'https://t.example', undefined)).toContain('/WORKFLOW_ID/');
});
