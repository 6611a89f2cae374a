import { Autocomplete, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { historyQuery, type Role } from '../queries';
import { useClaimNode } from '../useReclaim';

interface Props {
  pipelineId: number;
  role: Role;
  task?: number;
  node?: string;
}

/** Claims a certain task, as when a colleague or an admin named it. */
export function GivenTask({ pipelineId, role, task: givenTask, node: givenNode }: Props) {
  const [task, setTask] = useState(givenTask ? String(givenTask) : '');
  const [node, setNode] = useState(givenNode ?? '');
  const claim = useClaimNode();
  // The steps that the person has worked on before are offered.
  const history = useInfiniteQuery(historyQuery(pipelineId));
  const known = history.data?.pages.flatMap((p) => p.submissions) ?? [];
  const kind = role === 'reviewer' ? 'review' : 'subtask';
  const nodes = [...new Set(known.filter((s) => s.kind === kind).map((s) => s.node))];
  const ready = /^\d+$/.test(task.trim()) && (node.trim() !== '' || nodes.length === 1);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (!ready) return;
        claim.mutate({ pipelineId, taskId: Number(task), node: node.trim() || (nodes[0] ?? ''), role });
      }}
    >
      <Stack gap="xs">
        <Group gap="sm" align="flex-end">
          <TextInput
            label="Task number"
            inputMode="numeric"
            value={task}
            onChange={(e) => setTask(e.currentTarget.value)}
            w={140}
            autoComplete="off"
          />
          <Autocomplete
            label="Step"
            placeholder={nodes[0] ?? 'its key'}
            data={nodes}
            value={node}
            onChange={setNode}
            w={180}
            autoComplete="off"
          />
          <Button type="submit" variant="default" loading={claim.isPending} disabled={!ready}>
            Claim it
          </Button>
        </Group>
        {claim.refusal && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {claim.refusal}
          </Text>
        )}
      </Stack>
    </form>
  );
}
