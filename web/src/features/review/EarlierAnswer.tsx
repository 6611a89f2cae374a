import { Badge, Text } from '@mantine/core';
import type { Attempt, Field } from '@/api';
import { sameValue } from '@/ui/textDiff';
import { WordDiff } from '@/ui/WordDiff';
import classes from './ReviewField.module.css';

interface Props {
  field: Field;
  /** Earlier rounds, oldest first. */
  attempts: readonly Attempt[];
  /** What is handed in now. */
  now: unknown;
}

/** What the last rejection said about the field, and what its answer changed since. */
export function EarlierAnswer({ field, attempts, now }: Props) {
  const last = attempts.at(-1);
  if (!last) return null;
  const before = last.values[field.name];
  const said = last.comments.filter((c) => c.field === field.name);
  return (
    <div className={classes.panel}>
      <Text size="xs" c="dimmed">
        Since round {last.iteration}
        {sameValue(before, now) && ': the same answer'}
      </Text>
      {said.map((c) => (
        <Text key={`${c.verdict}/${c.text}`} component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {c.verdict && (
            <Badge size="sm" variant="dot" color={c.verdict === 'ok' ? 'teal' : 'red'} tt="none" mr={6}>
              {c.verdict}
            </Badge>
          )}
          {c.text && `“${c.text}”`}
        </Text>
      ))}
      {!sameValue(before, now) && (
        <WordDiff
          before={before}
          after={now}
          label={`Change of ${field.title || field.name} since round ${last.iteration}`}
        />
      )}
    </div>
  );
}
