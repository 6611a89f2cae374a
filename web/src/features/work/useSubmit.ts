import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { asAPIError, body, type Submitted, submitClaim, type Work } from '@/api';
import type { Values } from '@/fields/rules';
import { notify } from '@/ui/notify';
import type { Draft } from './draft/useDraft';
import { workQuery } from './queries';
import { offerUndo } from './UndoToast';
import { openedByItself } from './unseen';
import { claimPath, useOpenClaim, useWhere } from './useOpenClaim';
import { shownIn, useUndo } from './useUndo';

/** Whether the person is still at a claim: a hand-in may be answered when they have gone elsewhere. */
function useAtClaim() {
  const where = useWhere();
  return (work: Work) => where() === claimPath(work.claim_id);
}

/** Where one goes after handing something in, and what is offered then. For reviews, too. */
export function useHandedIn() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const undo = useUndo();
  const open = useOpenClaim();
  const atClaim = useAtClaim();
  return (work: Work, done: Submitted) => {
    const here = atClaim(work);
    const what = work.kind === 'review' ? 'Review' : 'Task';
    for (const key of shownIn) void client.invalidateQueries({ queryKey: [key] });
    client.removeQueries({ queryKey: workQuery(work.claim_id).queryKey });
    const until = done.undo_until;
    if (until) {
      offerUndo({
        claimId: done.claim_id,
        message: `${what} ${done.task_id} is submitted`,
        until,
        onUndo: () => undo(done.claim_id, until),
      });
    } else if (!here) notify.done(`${what} ${done.task_id} is submitted.`);
    const next = done.next as Work | null;
    if (next) {
      if (here) openedByItself(next.claim_id);
      open(claimPath(work.claim_id), next, { said: 'yours as the next one', replace: true });
      return;
    }
    if (!here) return;
    const role = work.kind === 'review' ? 'reviewer' : 'contributor';
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: String(work.pipeline_id) },
      search: { role },
      replace: true,
    });
  };
}

/** Tells that a hand-in failed to somebody who no longer sees it at its claim. */
export function useTellFailed() {
  const atClaim = useAtClaim();
  return (work: Work, err: unknown) => {
    if (!atClaim(work))
      notify.failed(`submit ${work.kind === 'review' ? 'the review of ' : ''}task ${work.task_id}`, err);
  };
}

export interface HandIn {
  values: Values;
  next: boolean;
}

/**
 * A hand-in that was refused for a draft from elsewhere is over: the choice between the two says all there is to say. So
 * is one without an answer that the server refuses now for that draft: sent again, it would go out over the choice.
 */
export function useForgetRefused(handIn: { error: unknown; reset: () => void }, draft: Draft) {
  const { error, reset } = handIn;
  const conflict = draft.phase === 'conflict';
  useEffect(() => {
    if (!conflict || !error) return;
    const { status, transient } = asAPIError(error);
    if (status === 409 || transient) reset();
  }, [conflict, error, reset]);
}

export function useSubmit(work: Work, draft: Draft) {
  const handedIn = useHandedIn();
  const tellFailed = useTellFailed();
  const submit = useMutation({
    mutationFn: ({ values, next }: HandIn) =>
      draft.handIn(
        (seen) =>
          body(
            submitClaim({
              path: { claim_id: work.claim_id },
              body: { values, ...seen },
              query: next ? { next } : undefined,
            }),
          ),
        values,
      ),
    onSuccess: (done) => {
      draft.finish();
      handedIn(work, done);
    },
    onError: (err) => tellFailed(work, err),
  });
  useForgetRefused(submit, draft);
  return submit;
}
