import { Button, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { labelOf } from '@/pipeline/definition';
import { mayConnect } from '@/pipeline/graph';
import { KindIcon, kindLabels } from './canvas/StepNode';
import { useBuilder } from './state/context';

/** Where a new step goes: into an edge, or behind a node at a place of the canvas. */
export type Where = { edge: number } | { after: string; at: [number, number] };

export function AddDialog({
  where,
  onAdd,
  onClose,
}: {
  where: Where | null;
  onAdd: (kind: 'subtask' | 'review') => void;
  onClose: () => void;
}) {
  return (
    <Modal opened={where !== null} onClose={onClose} title="Add here" size="sm" centered>
      <Stack gap="xs">
        <Choice autofocus kind="subtask" about="People or a model fill in a form" onClick={() => onAdd('subtask')} />
        <Choice kind="review" about="Somebody checks earlier work" onClick={() => onAdd('review')} />
      </Stack>
    </Modal>
  );
}

function Choice({
  kind,
  about,
  autofocus,
  onClick,
}: {
  kind: 'subtask' | 'review';
  about: string;
  autofocus?: boolean;
  onClick: () => void;
}) {
  return (
    <Button
      data-autofocus={autofocus}
      variant="default"
      justify="flex-start"
      h={60}
      leftSection={<KindIcon kind={kind} />}
      onClick={onClick}
    >
      <Stack gap={0} align="flex-start">
        {kindLabels[kind]}
        <Text size="xs" c="dimmed" fw={400}>
          {about}
        </Text>
      </Stack>
    </Button>
  );
}

/** Connects by choosing from a list, which is how the keyboard does it. */
export function ConnectDialog({
  from,
  onConnect,
  onClose,
}: {
  from: string | null;
  onConnect: (to: string) => void;
  onClose: () => void;
}) {
  return (
    <Modal opened={from !== null} onClose={onClose} title="Connect to" size="sm" centered>
      {from !== null && <ConnectForm key={from} from={from} onConnect={onConnect} />}
    </Modal>
  );
}

function ConnectForm({ from, onConnect }: { from: string; onConnect: (to: string) => void }) {
  const d = useBuilder().doc.definition;
  const [to, setTo] = useState<string | null>(null);
  const open = d.nodes.filter((n) => mayConnect(d, from, n.key) === null);
  const source = labelOf(d.nodes.find((n) => n.key === from) ?? { key: from });
  if (open.length === 0) {
    return (
      <Text size="sm">
        Nothing is left that “{source}” could lead to: an edge may not lead back, to itself, or stand twice.
      </Text>
    );
  }
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (to) onConnect(to);
      }}
    >
      <Stack>
        <Select
          data-autofocus
          searchable
          label={`After “${source}” comes`}
          data={open.map((n) => ({ value: n.key, label: labelOf(n) }))}
          value={to}
          onChange={setTo}
        />
        <Button type="submit" disabled={!to}>
          Connect
        </Button>
      </Stack>
    </form>
  );
}
