import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import type { Claim, Work } from '@/api';
import { offerNext } from './NextToast';
import { workQuery } from './queries';

export function claimPath(claimId: string) {
  return `/claims/${claimId}`;
}

/** Where the person is by now: what they asked for may be answered when they have gone elsewhere. */
export function useWhere() {
  const { history } = useRouter();
  return () => history.location.pathname;
}

/**
 * Opens a claim to who asked for it at `from`, and tells whether it did. Who has gone elsewhere since is not taken away
 * from there, perhaps in the middle of a sentence: they are offered it.
 */
export function useOpenClaim() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const where = useWhere();
  return (from: string, claim: Work | Claim, { said = 'yours', replace = false } = {}): boolean => {
    const claimId = claim.claim_id;
    const open = (inPlace: boolean) => void navigate({ to: '/claims/$claimId', params: { claimId }, replace: inPlace });
    const at = where();
    if (at === from) {
      if ('fields' in claim) client.setQueryData(workQuery(claimId).queryKey, claim);
      open(replace);
      return true;
    }
    // Loaded when it is opened: by then the person may have been there by another way, and written.
    if (at !== claimPath(claimId)) offerNext(`Task ${claim.task_id} is ${said}.`, () => open(false));
    return false;
  };
}
