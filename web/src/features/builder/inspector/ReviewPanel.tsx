import { Checkbox, MultiSelect, Stack, Switch, Text } from '@mantine/core';
import { defaults, labelOf, limits, type PipelineNode, type Target } from '@/pipeline/definition';
import { setNode } from '@/pipeline/edit';
import { reviewable } from '@/pipeline/graph';
import { Notice } from '../Notice';
import { PartOf, useBuilder, usePart } from '../state/context';
import { NumberPart, PartBox, Section } from './controls';
import { NextSteps } from './NextSteps';
import { NodeHead } from './NodeHead';
import { NodeInstructions, Times } from './SubtaskPanel';

/** A review: which work it checks, and how often it may send it back. */
export function ReviewPanel({ node }: { node: PipelineNode }) {
  const { doc, edit } = useBuilder();
  const set = (change: Partial<PipelineNode>, tag?: string) => edit((d) => setNode(d, node.key, change), tag);
  const targets = node.reviews ?? [];
  const can = reviewable(doc.definition, node.key);
  // What a review names and can no longer reach must be seen to be taken back.
  const lost = targets.filter((t) => !can.some((n) => n.key === t.node));
  const toggle = (key: string, on: boolean) =>
    set({ reviews: on ? [...targets, { node: key }] : targets.filter((t) => t.node !== key) });
  return (
    <Stack gap="lg">
      <NodeHead node={node} />
      <Section title="What it checks">
        <PartBox part="reviews">
          <Stack gap="xs">
            {can.length === 0 && lost.length === 0 && (
              <Notice variant="light" color="yellow">
                No step leads to this review yet. Connect one to it, then choose it here.
              </Notice>
            )}
            {[...can, ...lost.map((t): PipelineNode => ({ key: t.node, kind: 'subtask' }))].map((n) => {
              const at = targets.findIndex((t) => t.node === n.key);
              const target = targets[at];
              return (
                <Stack key={n.key} gap={6}>
                  <Checkbox
                    label={labelOf(n)}
                    description={lost.some((t) => t.node === n.key) ? 'not before this review any more' : undefined}
                    checked={target !== undefined}
                    onChange={(e) => toggle(n.key, e.currentTarget.checked)}
                  />
                  {target && (
                    <PartOf name={`reviews[${at}]`}>
                      <TargetFields
                        node={n}
                        target={target}
                        onChange={(t) => set({ reviews: targets.map((x, i) => (i === at ? t : x)) })}
                      />
                    </PartOf>
                  )}
                </Stack>
              );
            })}
          </Stack>
        </PartBox>
      </Section>
      <Section title="When it rejects">
        <NumberPart
          part="max_rework"
          label="Rejections before it escalates"
          description="0: the first rejection goes to the project's admins"
          placeholder={String(defaults.maxRework)}
          min={0}
          max={limits.maxRework}
          allowDecimal={false}
          value={node.max_rework}
          onChange={(max_rework) => set({ max_rework }, `rework ${node.key}`)}
        />
        <Switch
          data-part="four_eyes"
          label="Four eyes: nobody reviews their own work"
          checked={node.four_eyes ?? false}
          onChange={(e) => set({ four_eyes: e.currentTarget.checked || undefined })}
        />
      </Section>
      <NodeInstructions node={node} />
      <Times node={node} what="review" />
      <NextSteps node={node} />
    </Stack>
  );
}

function TargetFields({
  node,
  target,
  onChange,
}: {
  node: PipelineNode;
  target: Target;
  onChange: (t: Target) => void;
}) {
  const at = usePart('fields');
  const fields = (node.fields ?? []).filter((f) => f.input === 'contributor' || f.input === 'llm');
  const gone = (target.fields ?? []).filter((name) => !fields.some((f) => f.name === name));
  return (
    <MultiSelect
      {...at}
      ml={32}
      size="sm"
      label={`Fields of ${labelOf(node)} to look at`}
      placeholder={target.fields?.length ? undefined : 'All that people fill in'}
      data={[
        ...fields.map((f) => ({ value: f.name, label: labelOf(f) })),
        ...gone.map((f) => ({ value: f, label: `${f} (gone)` })),
      ]}
      value={target.fields ?? []}
      onChange={(names) => onChange(names.length > 0 ? { node: target.node, fields: names } : { node: target.node })}
      searchable
      clearable
    />
  );
}

/** Start and end: only what comes next can be set. */
export function EndsPanel({ node }: { node: PipelineNode }) {
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {node.kind === 'start'
          ? 'Every task begins here, with the seeded fields that it is created with.'
          : 'A task that gets here is finished.'}
      </Text>
      <NodeHead node={node} />
      <NextSteps node={node} />
    </Stack>
  );
}
