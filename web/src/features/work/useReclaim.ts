import { useMutation } from '@tanstack/react-query';
import { asAPIError, body, type Claim, claimWork, listClaims, type Work } from '@/api';
import { useOpenClaim, useWhere } from './useOpenClaim';

interface Which {
  pipelineId: number;
  taskId: number;
  node: string;
  role: 'contributor' | 'reviewer';
}

/** Claims a certain task and opens it; what the person holds already is opened. */
export function useClaimNode() {
  const where = useWhere();
  const open = useOpenClaim();
  const claim = useMutation({
    mutationFn: async ({ pipelineId, taskId, node, role }: Which): Promise<Work | Claim> => {
      let refused: unknown = new Error(`Task ${taskId} cannot be claimed now: somebody else has it, or it went on.`);
      try {
        const work = await body(
          claimWork({ path: { pipeline_id: pipelineId }, body: { role, task_id: taskId, node } }),
        );
        if (work?.claim_id) return work;
      } catch (err) {
        if (asAPIError(err).status !== 409) throw err;
        refused = err;
      }
      // Perhaps nobody else has it: the answer to an earlier try got lost, or another tab claimed it.
      const mine = await body(listClaims()).catch(() => null); // the refusal says what went wrong
      const held = mine?.claims.find((c) => c.task_id === taskId && c.node === node);
      if (!held) throw refused;
      return held;
    },
    onMutate: where,
    onSuccess: (claim, _, from) => open(from, claim, { replace: true }),
  });
  return { ...claim, refusal: claim.error ? asAPIError(claim.error).message : undefined };
}
