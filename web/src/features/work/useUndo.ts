import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { body, undoSubmission } from '@/api';
import { notify } from '@/ui/notify';
import { workQuery } from './queries';

/** Takes a submission back and opens it again with what was handed in. */
export function useUndo() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useCallback(
    async (claimId: string) => {
      try {
        const work = await body(undoSubmission({ path: { claim_id: claimId } }));
        client.setQueryData(workQuery(work.claim_id).queryKey, work);
        void client.invalidateQueries({ queryKey: ['listHistory'] });
        await navigate({ to: '/claims/$claimId', params: { claimId: work.claim_id } });
      } catch (err) {
        notify.failed('undo the submission', err);
      }
    },
    [client, navigate],
  );
}
