import { Group, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { chunk } from '@/lib/chunk';
import { type Change, diff } from '@/pipeline/diff';
import { grouped } from '@/pipeline/grouped';
import { DotBadge } from '../DotBadge';

const WordDiff = lazy(chunk(() => import('@/ui/WordDiff').then((m) => ({ default: m.WordDiff }))));

const colors: Record<Change['kind'], string> = { added: 'teal', removed: 'red', changed: 'blue', moved: 'gray' };

interface Props {
  before: unknown;
  after: unknown;
  /** What to say when there is no difference. */
  none?: string;
}

/** What turns one definition into another, grouped by step, texts compared by words. */
export default function DiffList({ before, after, none = 'There is no difference.' }: Props) {
  const changes = useMemo(() => diff(before, after), [before, after]);
  const groups = useMemo(() => grouped(changes, (c) => c.group), [changes]);
  if (changes.length === 0) return <Text c="dimmed">{none}</Text>;
  return (
    <Stack gap="md">
      {groups.map(([group, list]) => (
        <Stack key={group} gap={6} component="section" aria-label={group}>
          <Title order={3} size="h6">
            {group}
          </Title>
          {list.map((c) => (
            <Stack key={`${c.kind} ${c.what}`} gap={2} pl="sm">
              <Group gap={6}>
                <DotBadge color={colors[c.kind]}>{c.kind}</DotBadge>
                <Text size="sm">{c.what}</Text>
              </Group>
              <Values change={c} />
            </Stack>
          ))}
        </Stack>
      ))}
    </Stack>
  );
}

function Values({ change: c }: { change: Change }) {
  if (c.before === undefined && c.after === undefined) return null;
  return (
    <Text component="div" size="sm" pl="sm" style={{ overflowWrap: 'anywhere' }}>
      <Suspense fallback={<Text size="sm">{c.after ?? c.before}</Text>}>
        <WordDiff before={c.before ?? ''} after={c.after ?? ''} label={c.what} />
      </Suspense>
    </Text>
  );
}
