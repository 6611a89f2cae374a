import { SegmentedControl, Stack, Text } from '@mantine/core';
import type { Runs } from '@/pipeline/definition';
import { limits } from '@/pipeline/definition';
import { useBuilder } from '../state/context';
import { AreaPart, Section, TextPart } from './controls';

/** What the pipeline says about itself. */
export function PipelinePanel() {
  const { doc, edit } = useBuilder();
  const d = doc.definition;
  return (
    <Stack>
      <TextPart
        part="name"
        label="Name"
        maxLength={limits.name}
        required
        value={d.name}
        onChange={(name) => edit((x) => ({ ...x, name: name ?? '' }), 'pipeline name')}
      />
      <AreaPart
        part="description"
        label="Description"
        maxLength={limits.description}
        value={d.description}
        onChange={(description) => edit((x) => ({ ...x, description }), 'pipeline description')}
      />
      <Section title="When a task gets its run">
        <SegmentedControl
          data-part="runs"
          aria-label="When a task gets its run"
          value={d.runs ?? 'at_creation'}
          onChange={(v) => edit((x) => ({ ...x, runs: v === 'at_creation' ? undefined : (v as Runs) }))}
          data={[
            { value: 'at_creation', label: 'At creation' },
            { value: 'on_first_claim', label: 'On the first claim' },
          ]}
        />
        <Text size="xs" c="dimmed">
          At creation, operators see every task in Temporal from its birth. On the first claim suits backlogs of
          millions: a parked task costs next to nothing.
        </Text>
      </Section>
    </Stack>
  );
}
