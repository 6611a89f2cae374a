import { Button, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { chunk } from '@/lib/chunk';
import type { Field } from '@/pipeline/definition';
import { AreaPart, PartBox, Section, TextPart } from './controls';

const FieldInput = lazy(chunk(() => import('@/fields/registry').then((m) => ({ default: m.FieldInput }))));

interface Props {
  field: Field;
  onChange: (value: unknown, tag: string) => void;
}

/** The value of a static field, or what a contributor's field starts with, in the type's own control. */
export function ValueEditor({ field, onChange }: Props) {
  const fixed = field.input === 'static';
  const title = fixed ? 'What it shows' : 'Starts with';
  const set = (value: unknown) => onChange(value === null || value === '' ? undefined : value, `value ${field.name}`);
  if (field.type === 'static_content') {
    return (
      <AreaPart
        part="value"
        label="Text in Markdown"
        minRows={4}
        value={typeof field.value === 'string' ? field.value : undefined}
        onChange={set}
      />
    );
  }
  if (['image', 'audio', 'video', 'pdf'].includes(field.type)) {
    const url = (field.value as { url?: string } | undefined)?.url;
    return (
      <TextPart
        part="value"
        label="Address"
        placeholder="https://…"
        type="url"
        value={url}
        onChange={(v) => set(v ? { url: v } : undefined)}
      />
    );
  }
  return (
    <Section
      title={title}
      aside={
        field.value !== undefined && (
          <Button size="compact-xs" variant="subtle" onClick={() => set(undefined)}>
            Clear
          </Button>
        )
      }
    >
      <PartBox part="value">
        <Stack gap="xs">
          <Suspense fallback={<Skeleton h={36} />}>
            <FieldInput
              field={{ ...field, input: 'contributor', title: title, value: undefined }}
              value={field.value}
              onChange={set}
              context={{}}
            />
          </Suspense>
        </Stack>
      </PartBox>
    </Section>
  );
}
