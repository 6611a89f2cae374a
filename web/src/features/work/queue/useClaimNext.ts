import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { body, claimWork, type Work } from '@/api';
import { notify } from '@/ui/notify';
import { type Role, workQuery } from '../queries';

/** Claims the next one of a queue and opens it; null when somebody was quicker. */
export function useClaimNext(pipelineId: number, role: Role) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (): Promise<Work | null> => {
      const work = (await body(claimWork({ path: { pipeline_id: pipelineId }, body: { role } }))) as Work | null;
      return work?.claim_id ? work : null;
    },
    onSuccess: (work) => {
      for (const key of ['explainQueue', 'listQueues', 'listClaims'])
        void client.invalidateQueries({ queryKey: [key] });
      if (!work) return;
      client.setQueryData(workQuery(work.claim_id).queryKey, work);
      void navigate({ to: '/claims/$claimId', params: { claimId: work.claim_id } });
    },
    onError: (err) => notify.failed('claim the next task', err),
  });
}
