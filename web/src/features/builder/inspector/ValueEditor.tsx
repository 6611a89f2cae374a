import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { unparsedFault } from '@/fields/unparsed';
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
  const [typed, setTyped] = useState<{ text: unknown; over: unknown }>();
  const fixed = field.input === 'static';
  const title = fixed ? 'What it shows' : 'Starts with';
  // A text that is no value of JSON stays here, over the value that it began from: the definition would publish it.
  const kept = !typed || typed.over !== field.value;
  const shown = kept ? field.value : typed.text;
  const unsaved =
    unparsedFault(shown) &&
    (kept
      ? 'This text is saved as it is, and would be published: mend or clear it.'
      : 'What is shown here is not what is saved.');
  const set = (value: unknown) => {
    const whole = unparsedFault(value) === undefined;
    setTyped(whole ? undefined : { text: value, over: field.value });
    if (whole) onChange(value === null || value === '' ? undefined : value, `value ${field.name}`);
  };
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
        shown !== undefined && (
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
              value={shown}
              onChange={set}
              context={{}}
              error={unsaved}
            />
          </Suspense>
          {unsaved && (
            <Text size="xs" c="var(--mantine-color-error)" role="status">
              {unsaved}
            </Text>
          )}
        </Stack>
      </PartBox>
    </Section>
  );
}
