import { useCallback, useEffect, useRef, useState } from 'react';
import { asAPIError, body, extendClaim, serverNow } from '@/api';
import { type LeaseState, leaseState, shouldExtend } from './lease';

export interface Lease extends LeaseState {
  /** A full lease from now. Rejects when the claim is over. */
  extend: () => Promise<void>;
  /** The person did something, or a file that they send moved on. */
  active: () => void;
  /** The server says that the claim is over: another person may have it. */
  lost: boolean;
}

/** A reload in the middle of a lease must not take the rest for the whole. */
function fullLease(claimId: string, left: number): number {
  const key = `taskloom.lease.${claimId}`;
  try {
    const full = Math.max(left, Number(sessionStorage.getItem(key) ?? 0));
    sessionStorage.setItem(key, String(full));
    return full;
  } catch {
    return left;
  }
}

/** The lease of a claim, by the server's clock: counts down, and goes on by itself while the person works. */
export function useLease(claimId: string, expiresAt: string): Lease {
  const [ends, setEnds] = useState(() => Date.parse(expiresAt));
  const [total, setTotal] = useState(() => fullLease(claimId, ends - serverNow()));
  const [now, setNow] = useState(() => serverNow());
  const [lost, setLost] = useState(false);
  const triedAt = useRef(0);

  const until = useCallback(
    (at: string) => {
      const end = Date.parse(at);
      setEnds(end);
      setTotal(fullLease(claimId, end - serverNow()));
      setNow(serverNow());
    },
    [claimId],
  );
  useEffect(() => until(expiresAt), [expiresAt, until]);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, []);

  const extend = useCallback(async () => {
    triedAt.current = serverNow();
    try {
      until((await body(extendClaim({ path: { claim_id: claimId } }))).lease_expires_at);
      setLost(false);
    } catch (err) {
      const { status } = asAPIError(err);
      if (status === 409 || status === 404) setLost(true);
      throw err;
    }
  }, [claimId, until]);
  const active = useCallback(() => {
    if (!lost && shouldExtend(ends, total, serverNow(), triedAt.current)) extend().catch(() => {});
  }, [ends, total, lost, extend]);

  return { ...leaseState(ends, total, now), extend, active, lost };
}
