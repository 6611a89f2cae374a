import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { body, releaseClaim, type Work } from '@/api';
import { atMost } from '@/lib/atMost';
import { notify } from '@/ui/notify';
import type { Draft } from './draft/useDraft';
import { useWhere } from './useOpenClaim';

/** What the draft's last save may take, in milliseconds. Longer, and what was written stays in this browser. */
const saveMost = 10_000;

interface Giving {
  /** For those who run the pipeline; may be empty. */
  reason: string;
  /** The person is not served it again. */
  skip: boolean;
}

/** Goes to the queue that the claim came from. */
export function useBackToQueue(work: Work) {
  const navigate = useNavigate();
  return () =>
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: String(work.pipeline_id) },
      search: { role: work.kind === 'review' ? 'reviewer' : 'contributor' },
      replace: true,
    });
}

/**
 * Saves what is written, gives the claim back and goes to its queue: one step, so that nothing is done in between. Who
 * left the claim meanwhile stays where they are.
 */
export function useRelease(work: Work, draft: Draft) {
  const client = useQueryClient();
  const back = useBackToQueue(work);
  const where = useWhere();
  const review = work.kind === 'review';
  return useMutation({
    mutationFn: async ({ reason, skip }: Giving) => {
      await atMost(saveMost, draft.flush());
      const query = { ...(reason && { reason }), ...(skip && { skip }) };
      await body(releaseClaim({ path: { claim_id: work.claim_id }, query }));
    },
    onMutate: where,
    onSuccess: (_, { skip }, from) => {
      draft.giveBack();
      for (const key of ['listQueues', 'listClaims', 'explainQueue', 'listReviewQueue'])
        void client.invalidateQueries({ queryKey: [key] });
      notify.done(`${review ? 'The review of task' : 'Task'} ${work.task_id} is ${skip ? 'skipped' : 'released'}.`);
      if (where() === from) back();
    },
    onError: (err) => notify.failed(review ? 'release the review' : 'release the task', err),
  });
}
