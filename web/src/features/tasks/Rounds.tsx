import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import type { Field, TaskDetail } from '@/api';
import { FieldDisplay } from '@/fields/registry';
import { Ago } from '@/ui/Ago';
import { sameValue } from '@/ui/textDiff';
import { WordDiff } from '@/ui/WordDiff';
import { namesIn } from './names';
import { fixes, type Round, rounds } from './values';

/** Every hand-in and every verdict, oldest first, with what changed since the one before. */
export function Rounds({ task: t }: { task: TaskDetail }) {
  const all = rounds(t);
  if (all.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing was handed in yet.
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      {all.map((r) => (
        <RoundCard key={`${r.submission.node}/${r.submission.at}/${r.submission.author}`} task={t} round={r} />
      ))}
    </Stack>
  );
}

const verdicts: Record<string, { text: string; color: string }> = {
  approve: { text: 'accepted', color: 'teal' },
  reject: { text: 'rejected', color: 'red' },
  escalate: { text: 'escalated', color: 'orange' },
};

function RoundCard({ task: t, round }: { task: TaskDetail; round: Round }) {
  const s = round.submission;
  const names = namesIn(t);
  const verdict = verdicts[s.verdict];
  const fields = new Map(t.forms.flatMap((f) => f.fields.map((x) => [x.name, x] as const)));
  return (
    <Paper
      withBorder
      p="sm"
      component="article"
      aria-label={`${names.person(s.author)} at ${names.node(s.node)}, round ${s.iteration}`}
    >
      <Group gap="xs" mb={6}>
        <Text size="sm">
          <Text span fw={600} inherit>
            {names.person(s.author)}
          </Text>{' '}
          {verdict ? `${fixes(s) ? 'fixed and ' : ''}${verdict.text} at` : 'handed in'}{' '}
          <Text span fw={600} inherit>
            {names.node(s.node)}
          </Text>
        </Text>
        {verdict && (
          <Badge color={verdict.color} variant="dot" tt="none">
            {verdict.text}
          </Badge>
        )}
        {s.undone_at && (
          <Badge color="gray" variant="dot" tt="none">
            taken back
          </Badge>
        )}
        <Badge variant="default" tt="none" fw={500}>
          round {s.iteration}
        </Badge>
        <Text size="xs" c="dimmed">
          <Ago at={s.at} />
        </Text>
      </Group>
      <Stack gap="xs">
        {Object.entries(s.values).map(([name, value]) => (
          <Value
            key={name}
            field={fields.get(name)}
            name={name}
            value={value}
            before={round.before}
            values={{ ...t.input, ...s.values }}
            files={t.files}
          />
        ))}
        {s.comments.map((c) => (
          <Text key={`${c.node}/${c.field}/${c.text}`} component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {c.verdict && (
              <Badge size="sm" variant="dot" color={c.verdict === 'ok' ? 'teal' : 'red'} tt="none" mr={6}>
                {c.verdict}
              </Badge>
            )}
            {c.field && (
              <Text span fw={600} inherit>
                {fields.get(c.field)?.title || c.field}
                {c.text ? ': ' : ''}
              </Text>
            )}
            {c.text}
          </Text>
        ))}
      </Stack>
    </Paper>
  );
}

interface ValueProps {
  field: Field | undefined;
  name: string;
  value: unknown;
  before: Record<string, unknown> | null;
  values: Record<string, unknown>;
  files: TaskDetail['files'];
}

/** One answer of a round; what is new against the round before is marked. */
function Value({ field, name, value, before, values, files }: ValueProps) {
  const changed = before !== null && !sameValue(before[name], value);
  return (
    <div>
      <Text size="xs" c="dimmed">
        {field?.title || name}
        {before !== null && (changed ? ' · changed' : ' · as before')}
      </Text>
      {changed ? (
        <WordDiff before={before[name]} after={value} label={`Change of ${field?.title || name}`} />
      ) : field ? (
        <FieldDisplay field={field} value={value} context={values} files={files} />
      ) : (
        <Text size="sm">{JSON.stringify(value)}</Text>
      )}
    </div>
  );
}
