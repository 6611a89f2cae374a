import { Button, Group, Paper, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { asAPIError, body, type ListedTask, listPipelineTasks } from '@/api';
import { count } from '@/features/pipelines/lifecycle';
import { BulkDialog } from './BulkDialog';
import { type BulkAction, claimsSeen, type SeenClaims } from './bulk';
import type { TaskQuery } from './filters';

interface Props {
  pipelineId: number;
  /** What the list that is shown was asked for. */
  asked: TaskQuery;
  tasks: ListedTask[];
  ids: number[];
  /** Every loaded task is selected, and there are more. */
  moreMatch: boolean;
  onSelect: (ids: number[]) => void;
  /** After an action, with the tasks that it is still to be done to. */
  onDone: (left: number[]) => void;
}

/** The most tasks that are selected at once by what they match. */
const selectLimit = 20_000;

const actions: { action: BulkAction; label: string; danger?: boolean }[] = [
  { action: 'set_priority', label: 'Priority' },
  { action: 'hold', label: 'Hold' },
  { action: 'unhold', label: 'Take off hold' },
  { action: 'release', label: 'Release claims' },
  { action: 'requeue', label: 'Requeue' },
  { action: 'fail', label: 'Cancel tasks', danger: true },
];

/** What can be done to the selected tasks, and how to select the rest of what matches. */
export function BulkBar({ pipelineId, asked, tasks, ids, moreMatch, onSelect, onDone }: Props) {
  const [chosen, setChosen] = useState<{ action: BulkAction; seen: SeenClaims }>();
  /** The claims that were seen when all that match were selected. */
  const [matched, setMatched] = useState<SeenClaims>();
  const [note, setNote] = useState('');
  const [found, setFound] = useState<number>();
  const search = useRef<AbortController>(undefined);
  // Without a selection the bar is gone, as under other filters: then nothing is to be selected any more.
  useEffect(() => () => search.current?.abort(), []);
  const selectAll = async () => {
    search.current = new AbortController();
    const { signal } = search.current;
    setNote('');
    setFound(0);
    try {
      const all = await matching(pipelineId, asked, setFound, signal);
      if (signal.aborted) return;
      onSelect(all.ids);
      setMatched(all.seen);
      const time = new Date().toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
      setNote(
        all.more
          ? `These are the newest ${selectLimit.toLocaleString('en')} that match; there are more.`
          : `These are all that match at ${time}. Tasks that match later are not among them.`,
      );
    } catch (err) {
      if (signal.aborted) return;
      setNote(`Could not select all: ${asAPIError(err).message}`);
    } finally {
      setFound(undefined);
    }
  };
  return (
    <Paper withBorder p="xs" role="region" aria-label="Selected tasks">
      <Group gap="xs">
        <Text size="sm" fw={600} aria-live="polite">
          {count(ids.length, 'task')} selected
        </Text>
        {(moreMatch || found !== undefined) && (
          <Button size="compact-sm" variant="subtle" onClick={selectAll} loading={found !== undefined}>
            Select all that match
          </Button>
        )}
        {found !== undefined && <Text size="sm">{found.toLocaleString('en')} found…</Text>}
        {actions.map((a) => (
          <Button
            key={a.action}
            size="compact-sm"
            variant="default"
            c={a.danger ? 'red' : undefined}
            onClick={() => setChosen({ action: a.action, seen: claimsSeen(tasks, matched) })}
          >
            {a.label}…
          </Button>
        ))}
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => {
            setNote('');
            onSelect([]);
          }}
        >
          Clear selection
        </Button>
      </Group>
      {note && (
        <Text size="xs" c="dimmed" mt={4} role="status">
          {note}
        </Text>
      )}
      {chosen && (
        <BulkDialog
          pipelineId={pipelineId}
          {...chosen}
          ids={ids}
          close={(left) => {
            setChosen(undefined);
            if (!left) return;
            setNote('');
            onDone(left);
          }}
        />
      )}
    </Paper>
  );
}

/**
 * The ids of all tasks that match what the list was asked for, page by page: no task that it would not show. With the
 * claims that were seen on them.
 */
async function matching(pipelineId: number, asked: TaskQuery, progress: (n: number) => void, signal: AbortSignal) {
  const ids: number[] = [];
  let seen: SeenClaims = new Map();
  let cursor: string | undefined;
  do {
    const page = await body(
      listPipelineTasks({ path: { pipeline_id: pipelineId }, query: { ...asked, cursor, limit: 200 }, signal }),
    );
    ids.push(...page.tasks.map((t) => t.id));
    seen = claimsSeen(page.tasks, seen);
    cursor = page.next_cursor ?? undefined;
    progress(ids.length);
  } while (cursor && ids.length < selectLimit && !signal.aborted);
  return { ids, seen, more: cursor !== undefined };
}
