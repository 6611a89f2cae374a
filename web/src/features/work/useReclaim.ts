import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { asAPIError, body, claimWork } from '@/api';
import { workQuery } from './queries';

interface Which {
  pipelineId: number;
  taskId: number;
  node: string;
  role: 'contributor' | 'reviewer';
}

/** Claims a certain task and opens it. */
export function useClaimNode() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const claim = useMutation({
    mutationFn: async ({ pipelineId, taskId, node, role }: Which) => {
      const work = await body(claimWork({ path: { pipeline_id: pipelineId }, body: { role, task_id: taskId, node } }));
      if (!work?.claim_id)
        throw new Error(`Task ${taskId} cannot be claimed now: somebody else has it, or it went on.`);
      return work;
    },
    onSuccess: (work) => {
      client.setQueryData(workQuery(work.claim_id).queryKey, work);
      void navigate({ to: '/claims/$claimId', params: { claimId: work.claim_id }, replace: true });
    },
  });
  return { ...claim, refusal: claim.error ? asAPIError(claim.error).message : undefined };
}
