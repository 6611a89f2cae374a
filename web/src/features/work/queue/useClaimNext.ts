import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { body, claimWork, type Work } from '@/api';
import { notify } from '@/ui/notify';
import { type Role, workQuery } from '../queries';

/** Claims the next one of a queue and opens it; null when somebody was quicker. A double click claims one. */
export function useClaimNext(pipelineId: number, role: Role) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const going = useRef(false);
  const claim = useMutation({
    mutationFn: async (): Promise<Work | null> => {
      const work = (await body(claimWork({ path: { pipeline_id: pipelineId }, body: { role } }))) as Work | null;
      return work?.claim_id ? work : null;
    },
    onSuccess: (work) => {
      for (const key of ['explainQueue', 'listQueues', 'listClaims'])
        void client.invalidateQueries({ queryKey: [key] });
      if (!work) {
        going.current = false;
        return;
      }
      client.setQueryData(workQuery(work.claim_id).queryKey, work);
      void navigate({ to: '/claims/$claimId', params: { claimId: work.claim_id } });
    },
    onError: (err) => {
      going.current = false;
      notify.failed('claim the next task', err);
    },
  });
  const next = () => {
    if (going.current) return;
    going.current = true;
    claim.mutate();
  };
  return { ...claim, next };
}
