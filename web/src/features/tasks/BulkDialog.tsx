import { Button, Group, Modal, NumberInput, Progress, Stack, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { body, bulkTasks } from '@/api';
import { count } from '@/features/pipelines/lifecycle';
import { ErrorNote } from '@/ui/ErrorNote';
import { asOf, type BulkAction, type BulkOutcome, runBulk, type SeenClaims } from './bulk';
import { Refusals } from './Refusals';

interface Props {
  pipelineId: number;
  action: BulkAction;
  /** The claims that the list showed; only these are released. */
  seen: SeenClaims;
  ids: number[];
  /** left are the tasks that it is still to be done to; undefined when nothing was sent. */
  close: (left: number[] | undefined) => void;
}

interface Words {
  title: string;
  /** What it does, in one sentence. */
  about: string;
  verb: string;
  danger?: boolean;
  reason?: boolean;
}

const words: Record<BulkAction, Words> = {
  set_priority: {
    title: 'Set the priority',
    about: 'Work of a lower number is handed out first. What somebody holds stays with them.',
    verb: 'Set priority',
  },
  hold: {
    title: 'Put on hold',
    about: 'Nobody can claim their steps until you take them off hold. Who holds one can still hand it in.',
    verb: 'Hold',
    reason: true,
  },
  unhold: { title: 'Take off hold', about: 'Their steps can be claimed again.', verb: 'Take off hold' },
  release: {
    title: 'Release claims',
    about:
      'Who holds a step loses it, and it goes back to the queue. Their drafts are kept. ' +
      'Whoever came to hold one after the list was loaded keeps it.',
    verb: 'Release',
    reason: true,
  },
  requeue: {
    title: 'Requeue',
    about: 'Every escalated or quarantined step goes back to the queue for a new round.',
    verb: 'Requeue',
    reason: true,
  },
  fail: {
    title: 'Cancel tasks',
    about: 'The tasks end as failed. This cannot be undone; what was handed in stays readable.',
    verb: 'Cancel for good',
    danger: true,
    reason: true,
  },
};

/** Asks once, sends in parts, shows how far it is and what was refused. */
export function BulkDialog({ pipelineId, action, seen, ids, close }: Props) {
  const w = words[action];
  const client = useQueryClient();
  const [priority, setPriority] = useState<number | string>(0);
  const [reason, setReason] = useState('');
  const [running, setRunning] = useState(false);
  const [out, setOut] = useState<BulkOutcome & { error?: unknown }>();
  const stop = useRef<AbortController>(undefined);
  // Going back would take away what tells how far it is, and what stops it.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true, disabled: !running });
  const run = async (these: number[]) => {
    setRunning(true);
    stop.current = new AbortController();
    const before = out;
    const join = (o: BulkOutcome & { error?: unknown }) => ({
      ...o,
      done: [...(before?.done ?? []), ...o.done],
      failed: [...(before?.failed ?? []), ...o.failed],
    });
    const end = await runBulk(
      these,
      (part) =>
        body(
          bulkTasks({
            path: { pipeline_id: pipelineId },
            body: {
              action,
              task_ids: part,
              ...(action === 'set_priority' ? { priority: Number(priority) } : {}),
              ...(action === 'release' ? { as_of: asOf(seen, part) } : {}),
              ...(reason.trim() ? { reason: reason.trim() } : {}),
            },
          }),
        ),
      (o) => setOut(join(o)),
      stop.current.signal,
    );
    setOut(join(end));
    setRunning(false);
    for (const key of ['listPipelineTasks', 'getCounts', 'getTaskDetail', 'listWaiting'])
      void client.invalidateQueries({ queryKey: [key] });
  };
  const handled = (out?.done.length ?? 0) + (out?.failed.length ?? 0);
  return (
    <Modal opened onClose={() => !running && close(out?.left)} title={w.title} closeOnClickOutside={!running}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void run(ids);
        }}
      >
        <Stack>
          {!out && !running && (
            <>
              <Text size="sm">
                {count(ids.length, 'task')}. {w.about}
              </Text>
              {action === 'set_priority' && (
                <NumberInput
                  label="Priority"
                  description="From -100 (first) to 100 (last); 0 is usual."
                  min={-100}
                  max={100}
                  clampBehavior="strict"
                  allowDecimal={false}
                  value={priority}
                  onChange={setPriority}
                  data-autofocus
                />
              )}
              {w.reason && (
                <Textarea
                  label="Reason"
                  description="Optional; it stands in the timeline of each task."
                  maxLength={1000}
                  autosize
                  minRows={2}
                  value={reason}
                  onChange={(e) => setReason(e.currentTarget.value)}
                  data-autofocus
                />
              )}
            </>
          )}
          {(running || out) && (
            <div>
              <Progress value={(handled / ids.length) * 100} animated={running} aria-label="Progress" />
              <Text size="sm" mt={4} role="status">
                {handled.toLocaleString('en')} of {count(ids.length, 'task')}: {out?.done.length ?? 0} done
                {out && out.failed.length > 0 && `, ${out.failed.length} refused`}
                {out && !running && out.left.length > 0 && `, ${out.left.length} left`}
              </Text>
            </div>
          )}
          {out && out.failed.length > 0 && <Refusals failed={out.failed} />}
          {out?.error !== undefined && <ErrorNote error={out.error} doing="go on" />}
          <Group justify="flex-end">
            {running && (
              <Button variant="default" onClick={() => stop.current?.abort()}>
                Stop
              </Button>
            )}
            {!running && !out && (
              <>
                <Button variant="default" onClick={() => close(undefined)}>
                  Back
                </Button>
                <Button type="submit" color={w.danger ? 'red' : undefined} disabled={priority === ''}>
                  {w.verb}: {count(ids.length, 'task')}
                </Button>
              </>
            )}
            {!running && out && (
              <>
                {out.left.length > 0 && (
                  <Button variant="default" onClick={() => run(out.left)}>
                    Go on with {out.left.length}
                  </Button>
                )}
                <Button onClick={() => close(out.left)} data-autofocus>
                  Close
                </Button>
              </>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
