import { Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { DoneDetail } from '@/api';
import { FormView } from '@/fields/FormView';
import { equal, type Field, fieldLabel } from '@/fields/rules';
import { Ago } from '@/ui/Ago';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { Section } from '@/ui/Section';
import { WordDiff } from '@/ui/WordDiff';
import { OutcomeBadge } from './history/OutcomeBadge';
import { outcomes, verdicts } from './history/outcomes';
import { UndoButton } from './history/UndoButton';
import { submissionQuery } from './queries';
import { RemarkNote } from './Returned';
import { remarksOf } from './returned';

/** One submission as it was handed in, and what reviewers said. */
export default function SubmissionPage() {
  const { submissionId } = useParams({ strict: false }) as { submissionId: string };
  const { data, error, isPending, refetch } = useQuery(submissionQuery(submissionId));
  if (isPending) {
    return (
      <Page title="Submission">
        <RowsSkeleton rows={5} />
      </Page>
    );
  }
  if (!data) {
    return (
      <Page title="Submission">
        <ErrorNote error={error} doing="load the submission" retry={() => void refetch()} />
      </Page>
    );
  }
  return <Shown done={data} />;
}

function Shown({ done }: { done: DoneDetail }) {
  const fields = done.fields as Field[];
  const last = done.reviews.at(-1);
  const remarks = remarksOf(last?.comments ?? done.comments);
  const fixes = last?.values ?? {};
  return (
    <Page
      title={done.title || done.node}
      aside={<OutcomeBadge outcome={done.outcome} />}
      lead={
        <>
          Task {done.task_id} · {done.pipeline} · handed in <Ago at={done.at} />
          {done.iteration > 1 && ` · round ${done.iteration}`}
        </>
      }
      actions={<UndoButton claimId={done.claim_id} until={done.undo_until} />}
      width={1080}
    >
      <Stack gap="lg">
        <Text size="sm" c="dimmed">
          {outcomes[done.outcome].about}{' '}
          <Anchor component={Link} to="/history" size="sm" underline="always">
            All my submissions
          </Anchor>
        </Text>
        <Reviews done={done} />
        <FormView
          fields={fields}
          values={done.values}
          answers={{}}
          files={done.files}
          after={(field) => {
            const remark = remarks.get(field.name);
            const value = done.values[field.name];
            const fixed = field.name in fixes && !equal(fixes[field.name], value);
            return (
              <>
                {remark && <RemarkNote remark={remark} before={value} now={value} />}
                {fixed && (
                  <div>
                    <Text size="xs" c="dimmed" mt={6}>
                      Corrected by the reviewer
                    </Text>
                    <WordDiff before={value} after={fixes[field.name]} label={`Correction of ${fieldLabel(field)}`} />
                  </div>
                )}
              </>
            );
          }}
        />
      </Stack>
    </Page>
  );
}

/** The verdicts, with what was said about the work as a whole. */
function Reviews({ done }: { done: DoneDetail }) {
  if (done.reviews.length === 0) return null;
  return (
    <Section title={done.reviews.length === 1 ? 'The review' : 'The reviews'}>
      <Stack gap="xs">
        {done.reviews.map((r) => (
          <Paper key={r.at} withBorder px="md" py="sm">
            <Group gap="sm">
              <Text fw={600} size="sm">
                {verdicts[r.verdict] ?? r.verdict}
              </Text>
              <Text size="sm" c="dimmed">
                <Ago at={r.at} />
              </Text>
            </Group>
            {remarksOf(r.comments)
              .get('')
              ?.texts.map((text) => (
                <Text key={text} size="sm" mt={4} style={{ whiteSpace: 'pre-wrap' }}>
                  {text}
                </Text>
              ))}
          </Paper>
        ))}
      </Stack>
    </Section>
  );
}
