import { Group, Stack } from '@mantine/core';
import type { PipelineNode } from '@/pipeline/definition';
import { setNode } from '@/pipeline/edit';
import { useBuilder } from '../state/context';
import { Section } from './controls';
import { FieldList } from './FieldList';
import { Instructions } from './Instructions';
import { NextSteps } from './NextSteps';
import { NodeHead } from './NodeHead';
import { SpanPart } from './SpanPart';

/** A step that people or a model work on: its form and what it asks for. */
export function SubtaskPanel({ node }: { node: PipelineNode }) {
  return (
    <Stack gap="lg">
      <NodeHead node={node} />
      <FieldList node={node} />
      <NodeInstructions node={node} />
      <Times node={node} what="step" />
      <NextSteps node={node} />
    </Stack>
  );
}

export function NodeInstructions({ node }: { node: PipelineNode }) {
  const { edit } = useBuilder();
  return (
    <Section title="Instructions">
      <Instructions
        value={node.instructions}
        onChange={(instructions) => edit((d) => setNode(d, node.key, { instructions }), `instructions ${node.key}`)}
      />
    </Section>
  );
}

/** How long things may take. */
export function Times({ node, what }: { node: PipelineNode; what: string }) {
  const { edit } = useBuilder();
  const set = (change: Partial<PipelineNode>) => edit((d) => setNode(d, node.key, change));
  return (
    <Section title="Time">
      <Group grow align="flex-start" gap="xs">
        <SpanPart
          part="lease"
          label="Lease"
          description={`A claim on the ${what} holds`}
          fallback="30m"
          least={60}
          most={86_400}
          value={node.lease}
          onChange={(lease) => set({ lease })}
        />
        <SpanPart
          part="sla"
          label="Deadline"
          description="Escalates when still open"
          fallback="none"
          least={60}
          most={90 * 86_400}
          value={node.sla}
          onChange={(sla) => set({ sla })}
        />
        <SpanPart
          part="reserve"
          label="Reserve"
          description="Kept for who worked on it"
          fallback="4h"
          least={1}
          most={30 * 86_400}
          value={node.reserve}
          onChange={(reserve) => set({ reserve })}
        />
      </Group>
    </Section>
  );
}
