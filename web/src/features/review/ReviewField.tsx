import { Button, Group, SegmentedControl, Stack, Text, Textarea, VisuallyHidden } from '@mantine/core';
import { IconArrowBackUp, IconMessage, IconPencil } from '@tabler/icons-react';
import { useId, useState } from 'react';
import type { Field, File, Reviewed } from '@/api';
import { FieldDisplay, FieldInput, fieldKind } from '@/fields/registry';
import { Hotkey } from '@/ui/Hotkey';
import { sameValue } from '@/ui/textDiff';
import { WordDiff } from '@/ui/WordDiff';
import { EarlierAnswer } from './EarlierAnswer';
import type { Note } from './notes';
import classes from './ReviewField.module.css';

interface Props {
  field: Field;
  reviewed: Reviewed;
  /** Everything known, the corrections on top. */
  context: Record<string, unknown>;
  files: readonly File[];
  note: Note | undefined;
  onNote: (part: Partial<Note>) => void;
  /** The correction so far; the handed-in value while there is none. */
  value: unknown;
  /** undefined takes the correction back. */
  onFix: (value: unknown, fixing: boolean) => void;
  fixing: boolean;
  setFixing: (on: boolean) => void;
  problem: string | undefined;
  /** The shortcuts act on this field. */
  current: boolean;
  onCurrent: () => void;
  disabled: boolean;
}

/** One field under review: the answer, what changed, a verdict, a comment, and a correction in place. */
export function ReviewField(p: Props) {
  const { field, note } = p;
  const id = useId();
  const title = field.title || field.name;
  const submitted = p.reviewed.values[field.name];
  const group = fieldKind(field.type)?.group;
  const fixed = p.fixing && !sameValue(p.value, submitted);
  const [commenting, setCommenting] = useState(false);
  const showComment = commenting || Boolean(note?.text) || note?.verdict === 'wrong';
  return (
    <section
      id={`review-${field.name}`}
      aria-labelledby={`${id}-title`}
      className={classes.card}
      data-current={p.current || undefined}
      data-verdict={note?.verdict}
      onFocusCapture={p.onCurrent}
    >
      <Group justify="space-between" align="flex-start" mb={6}>
        <Text fw={600} id={`${id}-title`}>
          {title}
          <VisuallyHidden> (under review)</VisuallyHidden>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={`Verdict on ${title}`}
          disabled={p.disabled}
          value={note?.verdict ?? ''}
          onChange={(v) => p.onNote({ verdict: v === 'ok' || v === 'wrong' ? v : undefined })}
          data={[
            { value: '', label: 'open' },
            {
              value: 'ok',
              label: <span className={classes.verdict}>ok {p.current && <Hotkey keys="1" />}</span>,
            },
            {
              value: 'wrong',
              label: <span className={classes.verdict}>wrong {p.current && <Hotkey keys="2" />}</span>,
            },
          ]}
        />
      </Group>
      <Stack gap="sm">
        <EarlierAnswer field={field} attempts={p.reviewed.earlier} now={submitted} />
        {p.fixing ? (
          <div {...(group ? { role: 'group', 'aria-labelledby': `${id}-fix-label` } : {})}>
            <Text
              id={`${id}-fix-label`}
              size="xs"
              c="dimmed"
              mb={4}
              display="block"
              {...(group ? {} : { component: 'label', htmlFor: `${id}-fix` })}
            >
              Your correction<VisuallyHidden> of {title}</VisuallyHidden>
            </Text>
            <FieldInput
              id={`${id}-fix`}
              describedBy={`${id}-title`}
              field={field}
              value={p.value}
              onChange={(v) => p.onFix(v, true)}
              context={p.context}
              files={p.files}
              disabled={p.disabled}
              error={p.problem}
            />
            {p.problem && (
              <Text size="sm" c="red" role="alert" mt={4}>
                {p.problem}
              </Text>
            )}
            {fixed && (
              <div className={classes.panel}>
                <Text size="xs" c="dimmed" mt="xs">
                  What you change
                </Text>
                <WordDiff before={submitted} after={p.value} label={`Your change of ${title}`} />
              </div>
            )}
          </div>
        ) : (
          <FieldDisplay field={field} value={submitted} context={p.context} files={p.files} highlight />
        )}
        {showComment && (
          <Textarea
            id={`${id}-comment`}
            label={`Comment on ${title}`}
            placeholder="The contributor reads this at the field"
            autosize
            minRows={1}
            maxRows={8}
            maxLength={4000}
            value={note?.text ?? ''}
            disabled={p.disabled}
            onChange={(e) => p.onNote({ text: e.currentTarget.value })}
            data-comment={field.name}
          />
        )}
        <Group gap="xs">
          {!showComment && (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<IconMessage size={14} />}
              rightSection={p.current && <Hotkey keys="c" />}
              disabled={p.disabled}
              data-comment-button={field.name}
              onClick={() => {
                setCommenting(true);
                requestAnimationFrame(() => document.getElementById(`${id}-comment`)?.focus());
              }}
            >
              Comment
            </Button>
          )}
          {p.fixing ? (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<IconArrowBackUp size={14} />}
              disabled={p.disabled}
              onClick={() => p.onFix(undefined, false)}
            >
              Take the correction back
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<IconPencil size={14} />}
              rightSection={p.current && <Hotkey keys="f" />}
              disabled={p.disabled}
              onClick={() => p.setFixing(true)}
            >
              Fix it here
            </Button>
          )}
        </Group>
      </Stack>
    </section>
  );
}
