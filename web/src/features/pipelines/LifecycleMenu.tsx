import { List, Menu, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconArchive,
  IconArchiveOff,
  IconCircleCheck,
  IconPlayerPause,
  IconPlayerPlay,
  IconRotate,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  archivePipeline,
  asAPIError,
  body,
  completePipeline,
  getCounts,
  type Pipeline,
  pausePipeline,
  reopenPipeline,
  resumePipeline,
  unarchivePipeline,
} from '@/api';
import { confirm } from '@/ui/ConfirmDialog';
import { consequences, isDangerous, obstacle, type Verb, verbLabels, verbsFor } from './lifecycle';

const calls = {
  pause: pausePipeline,
  resume: resumePipeline,
  complete: completePipeline,
  reopen: reopenPipeline,
  archive: archivePipeline,
  unarchive: unarchivePipeline,
};

const done: Record<Verb, string> = {
  pause: 'is paused',
  resume: 'is active again',
  complete: 'is completed',
  reopen: 'is active again',
  archive: 'is archived',
  unarchive: 'is out of the archive',
};

export const verbIcons = {
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  complete: IconCircleCheck,
  reopen: IconRotate,
  archive: IconArchive,
  unarchive: IconArchiveOff,
};

/** Changes the status of a pipeline after saying what that means, in the numbers of this moment. */
export function useLifecycle(pipeline: Pick<Pipeline, 'id' | 'name'>) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: async (verb: Verb) => {
      const path = { pipeline_id: pipeline.id };
      const counts = await body(getCounts({ path }));
      const inTheWay = obstacle(verb, counts);
      const yes = await confirm({
        title: `${verbLabels[verb]}: ${pipeline.name}`,
        body: inTheWay ?? (
          <List size="sm" spacing={4}>
            {consequences(verb, counts).map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
        ),
        confirmLabel: inTheWay ? undefined : verbLabels[verb],
        danger: isDangerous(verb),
      });
      if (!yes) return null;
      return body(calls[verb]({ path }));
    },
    onSuccess: (answer, verb) => {
      if (answer) notifications.show({ message: `${pipeline.name} ${done[verb]}.`, color: 'teal' });
    },
    onError: (err, verb) =>
      notifications.show({
        title: `Could not ${verbLabels[verb].toLowerCase()} ${pipeline.name}`,
        message: asAPIError(err).message,
        color: 'red',
      }),
    onSettled: () => {
      for (const key of [
        'getPipeline',
        'listPipelines',
        'listProjects',
        'getCounts',
        'listPipelineTasks',
        'listQueues',
      ])
        void client.invalidateQueries({ queryKey: [key] });
    },
  });
  return { run: change.mutate, busy: change.isPending };
}

/** The verbs that work now, as items of a menu. */
export function LifecycleItems({ pipeline }: { pipeline: Pick<Pipeline, 'id' | 'name' | 'status'> }) {
  const { run } = useLifecycle(pipeline);
  const verbs = verbsFor(pipeline.status);
  if (verbs.length === 0) {
    return (
      <Menu.Label>
        <Text size="xs">It is being prepared</Text>
      </Menu.Label>
    );
  }
  return verbs.map((verb) => {
    const Icon = verbIcons[verb];
    return (
      <Menu.Item
        key={verb}
        leftSection={<Icon size={16} />}
        color={isDangerous(verb) ? 'red' : undefined}
        onClick={() => run(verb)}
      >
        {verbLabels[verb]}…
      </Menu.Item>
    );
  });
}
