import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { Criterion } from '@/pipeline/definition';
import { PartOf } from '../state/context';
import { NumberPart, PartBox, Section, TextPart } from './controls';

interface Props {
  value: Criterion[];
  onChange: (value: Criterion[] | undefined, tag?: string) => void;
}

/** The aspects by which evaluations are to judge the field's value, once there are any. */
export function CriteriaEditor({ value, onChange }: Props) {
  const set = (at: number, change: Partial<Criterion>) =>
    onChange(
      value.map((c, i) =>
        i === at
          ? (Object.fromEntries(
              Object.entries({ ...c, ...change }).filter(([, v]) => v !== undefined),
            ) as unknown as Criterion)
          : c,
      ),
      `criterion ${at}`,
    );
  return (
    <Section
      title="Evaluation criteria"
      aside={
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...value, { name: '' }])}
        >
          Add a criterion
        </Button>
      }
    >
      <PartBox part="criteria">
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            Criteria are kept for evaluations, which this release does not run yet.
          </Text>
          {value.map((c, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may stand twice while they are typed
            <PartOf key={i} name={`criteria[${i}]`}>
              <Stack gap={4}>
                <Group gap={6} wrap="nowrap" align="flex-end">
                  <TextPart
                    part="name"
                    label="Name"
                    value={c.name}
                    onChange={(name) => set(i, { name: name ?? '' })}
                    style={{ flex: 1 }}
                  />
                  <NumberPart
                    part="weight"
                    label="Weight"
                    placeholder="1"
                    w={70}
                    min={0}
                    value={c.weight}
                    onChange={(weight) => set(i, { weight })}
                  />
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    mb={4}
                    aria-label={`Remove criterion ${i + 1}`}
                    onClick={() => onChange(value.length > 1 ? value.filter((_, j) => j !== i) : undefined)}
                  >
                    <IconTrash size={16} />
                  </ActionIcon>
                </Group>
                <TextPart
                  part="description"
                  aria-label={`What criterion ${i + 1} asks`}
                  placeholder="What it asks"
                  value={c.description}
                  onChange={(description) => set(i, { description })}
                />
              </Stack>
            </PartOf>
          ))}
        </Stack>
      </PartBox>
    </Section>
  );
}
