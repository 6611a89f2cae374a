import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { body, claimWork, type Work } from '@/api';
import { notify } from '@/ui/notify';
import type { Role } from '../queries';
import { useOpenClaim, useWhere } from '../useOpenClaim';

/** Claims the next one of a queue and opens it; null when somebody was quicker. A double click claims one. */
export function useClaimNext(pipelineId: number, role: Role) {
  const client = useQueryClient();
  const where = useWhere();
  const open = useOpenClaim();
  const going = useRef(false);
  const claim = useMutation({
    mutationFn: async (): Promise<Work | null> => {
      const work = (await body(claimWork({ path: { pipeline_id: pipelineId }, body: { role } }))) as Work | null;
      return work?.claim_id ? work : null;
    },
    onMutate: where,
    onSuccess: (work, _, from) => {
      for (const key of ['explainQueue', 'listQueues', 'listClaims'])
        void client.invalidateQueries({ queryKey: [key] });
      // Where it did not open, another may be claimed: who goes to another queue is still at this button.
      going.current = work !== null && open(from, work);
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
