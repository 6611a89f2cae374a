import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { body, type Submitted, submitClaim, type Work } from '@/api';
import type { Values } from '@/fields/rules';
import { workQuery } from './queries';
import { offerUndo } from './UndoToast';
import { useUndo } from './useUndo';

/** Where one goes after handing something in, and what is offered then. For reviews, too. */
export function useHandedIn() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const undo = useUndo();
  return (work: Work, done: Submitted) => {
    for (const key of ['listQueues', 'listClaims', 'listHistory', 'getProgress', 'explainQueue', 'listReviewQueue']) {
      void client.invalidateQueries({ queryKey: [key] });
    }
    client.removeQueries({ queryKey: workQuery(work.claim_id).queryKey });
    if (done.undo_until) {
      const what = work.kind === 'review' ? 'Review' : 'Task';
      offerUndo({
        message: `${what} ${done.task_id} is submitted`,
        until: done.undo_until,
        onUndo: () => void undo(done.claim_id),
      });
    }
    const next = done.next as Work | null;
    if (next) {
      client.setQueryData(workQuery(next.claim_id).queryKey, next);
      void navigate({ to: '/claims/$claimId', params: { claimId: next.claim_id }, replace: true });
      return;
    }
    const role = work.kind === 'review' ? 'reviewer' : 'contributor';
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: String(work.pipeline_id) },
      search: { role },
      replace: true,
    });
  };
}

interface Request {
  values: Values;
  next: boolean;
}

export function useSubmit(work: Work, onDone: () => void) {
  const handedIn = useHandedIn();
  return useMutation({
    mutationFn: ({ values, next }: Request) =>
      body(submitClaim({ path: { claim_id: work.claim_id }, body: { values }, query: next ? { next } : undefined })),
    onSuccess: (done) => {
      onDone();
      handedIn(work, done);
    },
  });
}
