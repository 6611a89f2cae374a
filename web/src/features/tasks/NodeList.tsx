import { ActionIcon, Badge, Group, Menu, Paper, Stack, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { TaskDetail, TaskNode } from '@/api';
import { Ago } from '@/ui/Ago';
import { StatusBadge } from '@/ui/StatusBadge';
import { type Action, nodeActions, type Place } from './actions';
import { reasonText } from './journal';
import { namesIn } from './names';

interface Props {
  task: TaskDetail;
  ask: (asked: { action: Action; place: Place; what: string }) => void;
}

/** The steps of a task in the order of its pipeline: where each stands, with whom, and why it waits. */
export function NodeList({ task: t, ask }: Props) {
  const rank = new Map(t.forms.map((f, i) => [f.node, i]));
  const nodes = [...t.nodes].sort((a, b) => (rank.get(a.node) ?? 999) - (rank.get(b.node) ?? 999));
  const whole = t.waiting.filter((w) => w.node === '');
  return (
    <Stack gap="xs">
      {whole.map((w) => (
        <Text key={w.code} size="sm">
          {w.message}
        </Text>
      ))}
      {nodes.map((n) => (
        <NodeRow key={n.node} task={t} node={n} ask={ask} />
      ))}
    </Stack>
  );
}

function NodeRow({ task: t, node: n, ask }: Props & { node: TaskNode }) {
  const names = namesIn(t);
  const title = names.node(n.node);
  const over = t.status === 'finished' || t.status === 'failed';
  const actions = nodeActions(n.status, over);
  const why = t.waiting.filter((w) => w.node === n.node);
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Group gap={6}>
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Text>
            <StatusBadge status={n.status} />
            {n.kind === 'review' && (
              <Badge size="sm" variant="default" tt="none" fw={500}>
                review
              </Badge>
            )}
            {n.iteration > 1 && (
              <Badge size="sm" variant="default" tt="none" fw={500}>
                round {n.iteration}
              </Badge>
            )}
          </Group>
          {why.length > 0
            ? why.map((w) => (
                <Text key={w.code} size="sm" c="dimmed">
                  {w.message}
                </Text>
              ))
            : n.claimed_by !== null && (
                <Text size="sm" c="dimmed">
                  With {names.person(n.claimed_by)}
                  {n.lease_expires_at && (
                    <>
                      , until <Ago at={n.lease_expires_at} />
                    </>
                  )}
                </Text>
              )}
          {why.length === 0 && n.reason && reasonText(n.reason) && (
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {reasonText(n.reason)}
            </Text>
          )}
        </div>
        {actions.length > 0 && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions on ${title}`} data-noprint>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {actions.map((a) => (
                <Menu.Item
                  key={a.id}
                  onClick={() =>
                    ask({
                      action: a,
                      place: {
                        pipelineId: t.pipeline_id,
                        taskId: t.id,
                        node: n.node,
                        heldBy: n.claimed_by ?? undefined,
                      },
                      what: `${title} of task ${t.id}`,
                    })
                  }
                >
                  {a.label}…
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
    </Paper>
  );
}
