import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Work } from '@/api';
import type { Draft } from '@/features/work/draft/useDraft';
import { type Giving, giveBack } from '@/features/work/giveBack';
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
export function useReleaseReview(work: Work, draft: Draft) {
  const client = useQueryClient();
  const back = useBackToQueue(work);
  return useMutation({
    mutationFn: (giving: Giving) => giveBack(work, draft, giving),
    onSuccess: (_, { skip }) => {
      draft.giveBack();
      for (const key of ['listQueues', 'listClaims', 'explainQueue', 'listReviewQueue'])
        void client.invalidateQueries({ queryKey: [key] });
      notify.done(`The review of task ${work.task_id} is ${skip ? 'skipped' : 'released'}.`);
      back();
    },
    onError: (err) => notify.failed('release the review', err),
  });
}
