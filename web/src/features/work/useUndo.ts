import { useQueryClient } from '@tanstack/react-query';
import { asAPIError, body, serverNow, undoSubmission } from '@/api';
import { notify } from '@/ui/notify';
import { whileAway } from './repeat';
import { useOpenClaim, useWhere } from './useOpenClaim';

/** What shows that something was handed in, or taken back. */
export const shownIn = ['listQueues', 'listClaims', 'listHistory', 'getProgress', 'explainQueue', 'listReviewQueue'];

/**
 * Takes a submission back and opens it again with what was handed in. While the server is away it is sent again until
 * the time for it is over: sent twice, it counts once. False when it failed for now, and may be tried again.
 */
export function useUndo() {
  const client = useQueryClient();
  const where = useWhere();
  const open = useOpenClaim();
  return async (claimId: string, until: string): Promise<boolean> => {
    const from = where();
    const late = new AbortController();
    const stop = () => late.abort(new Error('The server did not answer in time.'));
    const timer = setTimeout(stop, Date.parse(until) - serverNow());
    try {
      const work = await whileAway(() => body(undoSubmission({ path: { claim_id: claimId } })), late.signal);
      open(from, work, { said: 'yours again' });
      return true;
    } catch (err) {
      notify.failed('undo the submission', err);
      return !asAPIError(err).transient;
    } finally {
      clearTimeout(timer);
      // After a refusal, too: it went on meanwhile. And without an answer it may have been done.
      for (const key of [...shownIn, 'getSubmission']) void client.invalidateQueries({ queryKey: [key] });
    }
  };
}
