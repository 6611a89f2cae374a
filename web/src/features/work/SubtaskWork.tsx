import { Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { asAPIError, type Field as WireField, type Work } from '@/api';
import { useMe } from '@/features/session/me';
import { FormView, focusProblem, useForm } from '@/fields/FormView';
import { checkAnswers, type Field, type Problem } from '@/fields/rules';
import { pendingUploads, usePendingUploads } from '@/fields/upload/pending';
import { UploaderProvider } from '@/fields/upload/uploader';
import { useHotkeys } from '@/lib/hotkeys';
import { ErrorNote } from '@/ui/ErrorNote';
import { ConflictNote, DoneElsewhereNote, LostNote, OtherTabNote } from './DraftNotes';
import { DraftChip } from './draft/DraftChip';
import { useDraft } from './draft/useDraft';
import { Instructions } from './Instructions';
import { useLease } from './lease/useLease';
import { ReleaseDialog } from './ReleaseDialog';
import { RemarkNote, ReturnedNote } from './Returned';
import { lastAttempt, remarksOf } from './returned';
import { SubmitBar, useSubmitAndNext } from './SubmitBar';
import { UnansweredNote } from './UnansweredNote';
import { isUnseen } from './unseen';
import { uploaderOf } from './upload';
import { useInstructions } from './useInstructions';
import { useClaimNode } from './useReclaim';
import { useRelease } from './useRelease';
import { type HandIn, useSubmit } from './useSubmit';
import { useUnanswered } from './useUnanswered';
import { WorkHeader } from './WorkHeader';
import classes from './work.module.css';

const keys = 'Work';

/**
 * A contributor at a subtask: the form, its draft and its lease. One for each claim: mount it by the claim's id. `ended`
 * is the server's word that the claim is over.
 */
export function SubtaskWork({ work, ended }: { work: Work; ended?: string }) {
  const { me } = useMe();
  const navigate = useNavigate();
  const fields = work.fields as WireField[] as Field[];
  const form = useForm(fields);
  const draft = useDraft(work, me.id);
  const lease = useLease(work.claim_id, work.lease_expires_at);
  const instructions = useInstructions(me.id, work.pipeline_id, work.node, work.instructions);
  const [next] = useSubmitAndNext();
  const uploads = usePendingUploads();
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<readonly Problem[]>([]);
  const [releasing, setReleasing] = useState<{ skip: boolean } | null>(null);
  const reclaim = useClaimNode();
  const submit = useSubmit(work, draft);
  const release = useRelease(work, draft);
  const gone = draft.doneElsewhere || submit.isSuccess || release.isSuccess;
  const lost = lease.lost || draft.phase === 'over' || ended !== undefined;
  const send = (what: HandIn) =>
    submit.mutate(what, {
      onError: (err) => {
        const { status, problems: said } = asAPIError(err);
        const byField = said.map((p) => ({ field: p.field ?? '', path: p.path || undefined, message: p.message }));
        setRefused(byField);
        if (byField.length > 0) requestAnimationFrame(() => focusProblem(byField));
        if (status === 409) void draft.flush().finally(() => lease.extend().catch(() => {}));
      },
    });
  const unanswered = useUnanswered(submit, lost, send, draft.settle);
  // A claim that its own submission ended is not lost.
  const over = !gone && !submit.isPending && !unanswered.open && lost;
  const locked = over || gone || submit.isPending || release.isPending || unanswered.open;

  useEffect(() => () => pendingUploads.clear(), []);
  const uploader = useMemo(() => uploaderOf(work.claim_id), [work.claim_id]);
  const hurdles = useMemo(
    () => ({
      played: draft.played,
      uploading: new Set(uploads.filter((u) => !u.error).map((u) => u.field)),
      broken: new Set(uploads.filter((u) => u.error).map((u) => u.field)),
    }),
    [draft.played, uploads],
  );
  const checked = useMemo(
    () => (tried ? checkAnswers(form, draft.values, work.values, hurdles) : undefined),
    [tried, form, draft.values, work.values, hurdles],
  );
  const problems = [...(checked?.problems ?? []), ...refused];

  const { set } = draft;
  const { active } = lease;
  // A file that moves on is work, too: who waits for it presses no key. One that stands still holds nothing.
  useEffect(() => {
    if (uploads.some((u) => !u.error)) active();
  }, [uploads, active]);
  const change = useCallback(
    (name: string, value: unknown) => {
      setRefused((old) => (old.length > 0 ? old.filter((p) => p.field !== name) : old));
      set(name, value);
      active();
    },
    [set, active],
  );

  const onSubmit = () => {
    if (locked || draft.phase === 'conflict' || isUnseen(work.claim_id)) return;
    setTried(true);
    setRefused([]);
    const found = checkAnswers(form, draft.values, work.values, hurdles);
    if (found.problems) {
      const wrong = found.problems;
      requestAnimationFrame(() => focusProblem(wrong));
      return;
    }
    send({ values: found.kept ?? {}, next });
  };
  const onSkip = () => setReleasing({ skip: true });
  const leave = () => {
    draft.giveBack();
    void navigate({
      to: '/pipelines/$pipelineId/work',
      params: { pipelineId: String(work.pipeline_id) },
      search: { role: 'contributor' },
    });
  };
  useHotkeys([
    { keys: 'mod+Enter', label: next ? 'Submit and next' : 'Submit', group: keys, run: onSubmit, allowInInput: true },
    { keys: 'mod+s', label: 'Save the draft now', group: keys, run: () => void draft.flush(), allowInInput: true },
    {
      keys: 'i',
      label: 'Instructions',
      group: keys,
      run: () => instructions.show(!instructions.open),
      disabled: !instructions.any,
    },
    { keys: 'Escape', label: 'Leave a field', group: keys, run: blur, allowInInput: true },
  ]);

  const remarks = useMemo(() => remarksOf(work.comments), [work.comments]);
  const before = lastAttempt(work)?.values ?? {};
  const returned = work.iteration > 1 && (work.comments.length > 0 || work.earlier.length > 0);
  const submitError = submit.error && asAPIError(submit.error);
  const shownError =
    submitError &&
    !unanswered.open &&
    draft.phase !== 'conflict' &&
    (submitError.problems.length === 0 || submitError.status !== 422) &&
    (!over || submitError.status === 409);
  return (
    <UploaderProvider value={uploader}>
      <div className={classes.page} onKeyDownCapture={active} onPointerDownCapture={active}>
        <WorkHeader
          work={work}
          lease={lease}
          chip={<DraftChip state={draft} />}
          instructions={instructions}
          onRelease={(skip) => setReleasing({ skip })}
          over={over}
          urgent={
            <>
              <DoneElsewhereNote draft={draft} onLeave={leave} />
              <UnansweredNote sent={unanswered} />
              {over && (
                <LostNote
                  message={draft.message ?? ended}
                  claiming={reclaim.isPending}
                  refusal={reclaim.refusal}
                  onClaim={() =>
                    reclaim.mutate({
                      pipelineId: work.pipeline_id,
                      taskId: work.task_id,
                      node: work.node,
                      role: 'contributor',
                    })
                  }
                />
              )}
              {!over && lease.phase === 'over' && <ExpiredHint />}
              <ConflictNote draft={draft} fields={work.fields} />
            </>
          }
        />
        <Stack gap="md" className={classes.body}>
          <OtherTabNote draft={draft} />
          {draft.phase === 'refused' && <ErrorNote error={new Error(draft.message)} doing="save the draft" />}
          {returned && (
            <ReturnedNote whole={remarks.get('')} fields={[...remarks.keys()].filter((name) => name !== '').length} />
          )}
          {instructions.open && (
            <Instructions
              text={work.instructions}
              changed={instructions.changed}
              onClose={() => instructions.show(false)}
            />
          )}
          <FormView
            fields={fields}
            values={work.values}
            answers={draft.values}
            onChange={change}
            problems={problems}
            files={work.files}
            // While it is handed in, too: what is typed then would be in neither the submission nor the draft.
            disabled={gone || submit.isPending || release.isPending || unanswered.open}
            onPlayed={draft.setPlayed}
            played={draft.played}
            keys={!gone && !submit.isPending && !release.isPending && !unanswered.open}
            after={(field) => {
              const remark = returned ? remarks.get(field.name) : undefined;
              return (
                remark && <RemarkNote remark={remark} before={before[field.name]} now={draft.values[field.name]} />
              );
            }}
          />
          {shownError && (
            <ErrorNote error={submitError} doing="submit" retry={submitError.transient ? onSubmit : undefined} />
          )}
        </Stack>
        {!over && !draft.doneElsewhere && (
          <SubmitBar
            onSubmit={onSubmit}
            onSkip={onSkip}
            busy={submit.isPending || submit.isSuccess}
            disabled={draft.phase === 'conflict' || unanswered.open}
            problems={problems.length}
          />
        )}
        <ReleaseDialog
          opened={releasing !== null}
          skip={releasing?.skip ?? false}
          onClose={() => setReleasing(null)}
          busy={release.isPending}
          onRelease={(reason, skip) => release.mutate({ reason, skip }, { onSuccess: () => setReleasing(null) })}
        />
      </div>
    </UploaderProvider>
  );
}

function ExpiredHint() {
  return (
    <ErrorNote
      error={new Error('The time for this task is over, but nobody else has it yet. Go on, or extend the time above.')}
      doing="be sure that it stays yours"
    />
  );
}

function blur() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
