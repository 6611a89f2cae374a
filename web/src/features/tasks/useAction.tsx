import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ErrorNote } from '@/ui/ErrorNote';
import type { Action, Place } from './actions';

interface Asked {
  action: Action;
  place: Place;
  /** What it is done to: "task 12", "Solve it of task 12". */
  what: string;
}

/** Asks for a reason, does it, and says what came of it. Render `dialog` once. */
export function useAction(): { ask: (asked: Asked) => void; dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked>();
  return {
    ask: setAsked,
    dialog: asked ? <ActionDialog key={asked.action.id} {...asked} close={() => setAsked(undefined)} /> : null,
  };
}

function ActionDialog({ action, place, what, close }: Asked & { close: () => void }) {
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: () => action.run(place, reason),
    onSuccess: () => {
      for (const key of ['getTaskDetail', 'listPipelineTasks', 'listWaiting', 'getCounts', 'listPipelines'])
        void client.invalidateQueries({ queryKey: [key] });
      notifications.show({ message: `${action.label}: ${what} – done.`, color: 'teal' });
      close();
    },
  });
  // On its way it cannot be called back, and its answer would close what is asked by then.
  const leave = () => !act.isPending && close();
  return (
    <Modal opened onClose={leave} title={`${action.label}: ${what}`}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          act.mutate();
        }}
      >
        <Stack>
          <Text size="sm">{action.about}</Text>
          <Textarea
            label="Reason"
            description={
              action.reasonWanted ? 'It stands in the task’s timeline.' : 'Optional; it stands in the task’s timeline.'
            }
            maxLength={1000}
            autosize
            minRows={2}
            value={reason}
            onChange={(e) => setReason(e.currentTarget.value)}
            data-autofocus
          />
          {act.isError && <ErrorNote error={act.error} doing={action.label.toLowerCase()} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={leave} disabled={act.isPending}>
              Back
            </Button>
            <Button type="submit" color={action.danger ? 'red' : undefined} loading={act.isPending}>
              {action.label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
