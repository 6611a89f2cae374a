import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type APIError, asAPIError, body, type ReviewRequest, reviewClaim, type Work } from '@/api';
import { useMe } from '@/features/session/me';
import { ConflictNote, DoneElsewhereNote, LostNote, OtherTabNote } from '@/features/work/DraftNotes';
import { DraftChip } from '@/features/work/draft/DraftChip';
import { useDraft } from '@/features/work/draft/useDraft';
import { Instructions } from '@/features/work/Instructions';
import { useLease } from '@/features/work/lease/useLease';
import { ReleaseDialog } from '@/features/work/ReleaseDialog';
import { useSubmitAndNext } from '@/features/work/SubmitBar';
import { UnansweredNote } from '@/features/work/UnansweredNote';
import { isUnseen } from '@/features/work/unseen';
import { useInstructions } from '@/features/work/useInstructions';
import { useClaimNode } from '@/features/work/useReclaim';
import { useBackToQueue, useRelease } from '@/features/work/useRelease';
import { useForgetRefused, useHandedIn, useTellFailed } from '@/features/work/useSubmit';
import { useUnanswered } from '@/features/work/useUnanswered';
import { WorkHeader } from '@/features/work/WorkHeader';
import { FormAroundProvider } from '@/fields/FormContext';
import { FormView, useForm } from '@/fields/FormView';
import type { Field as FormField } from '@/fields/rules';
import { ErrorNote } from '@/ui/ErrorNote';
import { sameValue } from '@/ui/textDiff';
import { anything, emptied, fixes, request, type Verdict } from './notes';
import { ReviewBar } from './ReviewBar';
import { ReviewField } from './ReviewField';
import classes from './ReviewWork.module.css';
import { refusedFixes, useFixProblems } from './useFixProblems';
import { useNotes } from './useNotes';
import { useReviewKeys } from './useReviewKeys';
import { VerdictDialog } from './VerdictDialog';

/**
 * A reviewer at a submission: what was asked on one side, the answers to check
 * on the other. One for each claim: mount it by the claim's id. `ended` is the
 * server's word that the claim is over.
 */
export function ReviewWork({ work, ended }: { work: Work; ended?: string }) {
  const { me } = useMe();
  // A review's form has no answers to begin with: the fields' own defaults would look like corrections.
  const draft = useDraft(
    useMemo(() => ({ ...work, fields: [] }), [work]),
    me.id,
  );
  const lease = useLease(work.claim_id, work.lease_expires_at);
  const instructions = useInstructions(me.id, work.pipeline_id, work.node, work.instructions);
  const { notes, setField, setOverall, forget } = useNotes(work);
  const [next, setNext] = useSubmitAndNext();
  const [asking, setAsking] = useState<'reject' | 'escalate'>();
  /** The answers that are open for a correction, without one so far. */
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [releasing, setReleasing] = useState<{ skip: boolean } | null>(null);
  const reclaim = useClaimNode();
  const handedIn = useHandedIn();
  const tellFailed = useTellFailed();
  const done = () => {
    draft.finish();
    forget();
  };
  const give = useMutation({
    mutationFn: ({ verdict, next }: { verdict: ReviewRequest; next: boolean }) =>
      draft.handIn(
        (seen) =>
          body(
            reviewClaim({
              path: { claim_id: work.claim_id },
              body: { ...verdict, ...seen },
              query: next ? { next } : undefined,
            }),
          ),
        verdict.values,
      ),
    onSuccess: (answer) => {
      done();
      handedIn(work, answer);
    },
    onError: (err) => {
      tellFailed(work, err);
      const { status, problems } = asAPIError(err);
      const first = problems.find((p) => p.field && checked.includes(p.field))?.field;
      if (first) requestAnimationFrame(() => toField(first));
      if (status === 409) void draft.flush().finally(() => lease.extend().catch(() => {}));
    },
  });
  useForgetRefused(give, draft);
  const release = useRelease(work, draft);
  const back = useBackToQueue(work);

  const fields = work.fields as unknown as FormField[];
  const form = useForm(fields);
  const byName = useMemo(() => new Map(work.fields.map((f) => [f.name, f])), [work.fields]);
  const checked = useMemo(() => work.reviewed.flatMap((r) => r.fields), [work.reviewed]);
  const submitted = useMemo(() => Object.assign({}, ...work.reviewed.map((r) => r.values)), [work.reviewed]);
  const context = useMemo(
    () => ({ ...form.statics, ...work.values, ...submitted, ...draft.values }),
    [form, work.values, submitted, draft.values],
  );
  const shown = useMemo(() => form.visible(context), [form, context]);
  const around = useMemo(() => ({ field: (name: string) => form.fields.find((f) => f.name === name) }), [form]);
  const asked = useMemo(() => fields.filter((f) => !checked.includes(f.name)), [fields, checked]);
  const fixed = fixes(draft.values, work.reviewed);
  const removed = emptied(fixed, work.reviewed);
  const corrected = Object.fromEntries(Object.entries(fixed).filter(([name]) => !removed.includes(name)));
  const wrong = useFixProblems(form, work, draft.values, shown);

  const gone = draft.doneElsewhere || give.isSuccess || release.isSuccess;
  const lost = lease.lost || draft.phase === 'over' || ended !== undefined;
  const unanswered = useUnanswered(give, lost, give.mutate, draft.settle);
  // A claim that its own verdict ended is not lost.
  const over = !gone && !give.isPending && !unanswered.open && lost;
  const locked = over || gone || give.isPending || release.isPending || unanswered.open;
  const hand = (verdict: Verdict) => {
    if (!isUnseen(work.claim_id)) give.mutate({ verdict: request(verdict, notes, draft.values, work.reviewed), next });
  };
  const sent = give.variables?.verdict;
  // What was wrong with a verdict says nothing about another one, as after a mend.
  const stands = (err: APIError) =>
    err.status !== 422 || (sent && sameValue(sent, request(sent.verdict, notes, draft.values, work.reviewed)));
  const said = give.error && asAPIError(give.error);
  const refusal = said && stands(said) ? said : null;
  const problems = new Map([...(said ? refusedFixes(said, sent?.values ?? {}, fixed, shown) : []), ...wrong]);
  const blocked = locked || draft.phase === 'conflict';
  const accept = () => {
    if (blocked) return;
    const [first] = wrong.keys();
    if (first) toField(first);
    else hand('approve');
  };
  /** Gives the verdict once more that was turned away, as it stands by now. */
  const again = () => (sent?.verdict === 'approve' ? accept() : setAsking(sent?.verdict));
  const open = (name: string, on: boolean) =>
    setOpened((before) => new Set(on ? [...before, name] : [...before].filter((n) => n !== name)));
  const startFix = (name: string) => {
    if (!blocked) open(name, true);
  };
  /** Only what says something else than the answer is kept: another review may correct that one meanwhile. */
  const fix = (name: string, value: unknown, on: boolean) => {
    open(name, on);
    draft.set(name, on && !sameValue(value, submitted[name]) ? (value ?? null) : undefined);
  };
  const keys = useReviewKeys({
    names: checked.filter((n) => shown[n] !== false),
    disabled: blocked || asking !== undefined,
    accept,
    acceptLabel: Object.keys(corrected).length > 0 ? 'Fix and accept' : 'Accept',
    reject: () => setAsking('reject'),
    escalate: () => setAsking('escalate'),
    judge: (name, verdict) =>
      setField(name, { verdict: notes.fields[name]?.verdict === verdict ? undefined : verdict }),
    fix: startFix,
    save: () => void draft.flush(),
    instructions: instructions.any ? () => instructions.show(!instructions.open) : undefined,
  });

  return (
    <FormAroundProvider value={around}>
      <div className={classes.page} onKeyDownCapture={lease.active} onPointerDownCapture={lease.active}>
        <WorkHeader
          work={work}
          lease={lease}
          chip={<DraftChip state={draft} comments={anything(notes)} />}
          instructions={instructions}
          onRelease={(skip) => setReleasing({ skip })}
          over={over}
          urgent={<UnansweredNote sent={unanswered} />}
        />
        <Stack gap="md" className={classes.body}>
          <DoneElsewhereNote
            draft={draft}
            onLeave={() => {
              draft.giveBack();
              back();
            }}
          />
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
                  role: 'reviewer',
                })
              }
            />
          )}
          <ConflictNote draft={draft} fields={work.fields} />
          <OtherTabNote draft={draft} />
          {draft.phase === 'refused' && <ErrorNote error={new Error(draft.message)} doing="save the draft" />}
          {instructions.open && (
            <Instructions
              text={work.instructions}
              changed={instructions.changed}
              onClose={() => instructions.show(false)}
            />
          )}
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" className={classes.sides}>
            <section aria-labelledby="review-asked" className={classes.asked}>
              <Title order={2} size="h5" id="review-asked" mb="sm">
                What was asked
              </Title>
              {asked.length === 0 && (
                <Text size="sm" c="dimmed">
                  Everything on this form is under review.
                </Text>
              )}
              <FormView
                fields={asked}
                values={{ ...form.statics, ...work.values, ...submitted }}
                answers={submitted}
                files={work.files}
              />
            </section>
            <section aria-labelledby="review-answers">
              <Title order={2} size="h5" id="review-answers" mb="sm">
                To check
              </Title>
              <Stack gap="md">
                {work.reviewed.map((r) => (
                  <Stack key={r.node} gap="sm">
                    <Text size="sm" c="dimmed">
                      {r.title || r.node}, by {r.author.name}
                      {r.iteration > 1 && `, round ${r.iteration}`}
                    </Text>
                    <Whole attempts={r.earlier} />
                    {r.fields.map((name) => {
                      const field = byName.get(name);
                      if (!field || shown[name] === false) return null;
                      const written = Object.hasOwn(draft.values, name);
                      return (
                        <ReviewField
                          key={name}
                          field={field}
                          reviewed={r}
                          context={context}
                          files={work.files}
                          note={notes.fields[name]}
                          onNote={(part) => setField(name, part)}
                          value={written ? draft.values[name] : r.values[name]}
                          fixing={written || opened.has(name)}
                          setFixing={() => startFix(name)}
                          onFix={(v, on) => fix(name, v, on)}
                          problem={problems.get(name)}
                          current={keys.current === name}
                          onCurrent={() => keys.setCurrent(name)}
                          disabled={locked}
                        />
                      );
                    })}
                  </Stack>
                ))}
              </Stack>
            </section>
          </SimpleGrid>
          {refusal &&
            !asking &&
            !unanswered.open &&
            draft.phase !== 'conflict' &&
            problems.size === 0 &&
            (!over || refusal.status === 409) && (
              <ErrorNote error={refusal} doing="hand in the review" retry={refusal.transient ? again : undefined} />
            )}
        </Stack>
        {!over && !gone && (
          <ReviewBar
            notes={notes}
            fixed={corrected}
            reviewed={work.reviewed}
            busy={give.isPending}
            disabled={blocked}
            next={next}
            setNext={setNext}
            accept={accept}
            ask={setAsking}
          />
        )}
        {asking && !unanswered.open && draft.phase !== 'conflict' && (
          <VerdictDialog
            verdict={asking}
            notes={notes}
            setOverall={setOverall}
            reviewed={work.reviewed}
            fields={byName}
            dropped={Object.keys(fixed).length}
            busy={give.isPending}
            error={sent?.verdict === asking ? refusal : null}
            give={() => hand(asking)}
            close={() => setAsking(undefined)}
          />
        )}
        <ReleaseDialog
          opened={releasing !== null}
          skip={releasing?.skip ?? false}
          onClose={() => setReleasing(null)}
          busy={release.isPending}
          onRelease={(reason, skip) => release.mutate({ reason, skip })}
        />
      </div>
    </FormAroundProvider>
  );
}

function toField(name: string) {
  document.getElementById(`review-${name}`)?.scrollIntoView({ block: 'center' });
}

/** What the last rejection said about the work as a whole. */
function Whole({ attempts }: { attempts: Work['earlier'] }) {
  const last = attempts.at(-1);
  const said = last?.comments.filter((c) => !c.field) ?? [];
  if (!last || said.length === 0) return null;
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      <Text span c="dimmed" inherit>
        Rejected in round {last.iteration}:{' '}
      </Text>
      {said.map((c) => `“${c.text}”`).join(' ')}
    </Text>
  );
}
