import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { body, releaseClaim, type Work } from '@/api';
import { notify } from '@/ui/notify';

/** Goes to the queue that the review came from. */
export function useBackToQueue(work: Work) {
  const navigate = useNavigate();
  return () =>
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: String(work.pipeline_id) },
      search: { role: 'reviewer' },
      replace: true,
    });
}

/** Gives a review back and goes to its queue. What was written stays in this browser. */
export function useReleaseReview(work: Work, done: () => void) {
  const client = useQueryClient();
  const back = useBackToQueue(work);
  return useMutation({
    mutationFn: ({ reason, skip }: { reason: string; skip: boolean }) =>
      body(
        releaseClaim({
          path: { claim_id: work.claim_id },
          query: { ...(reason && { reason }), ...(skip && { skip }) },
        }),
      ),
    onSuccess: (_, { skip }) => {
      done();
      for (const key of ['listQueues', 'listClaims', 'explainQueue', 'listReviewQueue'])
        void client.invalidateQueries({ queryKey: [key] });
      notify.done(`The review of task ${work.task_id} is ${skip ? 'skipped' : 'released'}.`);
      back();
    },
    onError: (err) => notify.failed('release the review', err),
  });
}
