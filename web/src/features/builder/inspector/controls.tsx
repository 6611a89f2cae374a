import {
  Box,
  Group,
  NumberInput,
  type NumberInputProps,
  Stack,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
  Title,
} from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { usePart } from '../state/context';

/** The controls of the panels: each knows its part of the definition, so that a problem is shown at it and leads to it. */
type Part<P, V> = Omit<P, 'value' | 'onChange' | 'error'> & {
  part: string;
  value: V | undefined;
  onChange: (value: V | undefined) => void;
};

/** Keys, names and patterns. */
const monospace = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

export function TextPart({ part, value, onChange, mono, ...rest }: Part<TextInputProps, string> & { mono?: boolean }) {
  const at = usePart(part);
  return (
    <TextInput
      {...rest}
      {...at}
      styles={mono ? monospace : undefined}
      value={value ?? ''}
      onChange={(e) => onChange(e.currentTarget.value || undefined)}
    />
  );
}

export function AreaPart({ part, value, onChange, ...rest }: Part<TextareaProps, string>) {
  const at = usePart(part);
  return (
    <Textarea
      autosize
      minRows={2}
      maxRows={16}
      {...rest}
      {...at}
      value={value ?? ''}
      onChange={(e) => onChange(e.currentTarget.value || undefined)}
    />
  );
}

export function NumberPart({ part, value, onChange, ...rest }: Part<NumberInputProps, number>) {
  const at = usePart(part);
  return (
    <NumberInput
      hideControls
      {...rest}
      {...at}
      value={value ?? ''}
      onChange={(v) => onChange(v === '' || !Number.isFinite(Number(v)) ? undefined : Number(v))}
    />
  );
}

type CommitProps = Part<TextInputProps, string> & {
  mono?: boolean;
  /** Tells what is wrong with the text; it is then kept here and not in the definition. */
  check: (text: string) => string | null;
};

/** A text that counts once it is left or Enter is pressed: a key, a name, a time span. */
export function CommitPart({ part, value, onChange, check, mono, ...rest }: CommitProps) {
  const at = usePart(part);
  const [typed, setTyped] = useState(value ?? '');
  useEffect(() => setTyped(value ?? ''), [value]);
  const wrong = typed === (value ?? '') ? null : check(typed);
  const commit = () => {
    if (typed === (value ?? '')) return;
    if (!wrong) onChange(typed || undefined);
  };
  return (
    <TextInput
      {...rest}
      {...at}
      styles={mono ? monospace : undefined}
      data-own-undo
      error={wrong ?? at.error}
      value={typed}
      onChange={(e) => setTyped(e.currentTarget.value)}
      onBlur={() => {
        if (wrong) setTyped(value ?? '');
        else commit();
      }}
      onKeyDown={(e) => {
        if (e.key === 'Enter') commit();
        if (e.key === 'Escape' && typed !== (value ?? '')) {
          e.stopPropagation();
          setTyped(value ?? '');
        }
      }}
    />
  );
}

/** A part of a panel under a heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <Stack gap="xs" role="group" aria-label={title}>
      <Group justify="space-between" gap="xs" mih={28}>
        <Title order={3} size="h6">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Stack>
  );
}

/** Marks an editor of several controls as one part, which takes the focus as a whole when nothing inside fits better. */
export function PartBox({ part, children }: { part: string; children: ReactNode }) {
  const { 'data-part': name, error } = usePart(part, true);
  return (
    <Box data-part={name} tabIndex={-1}>
      {children}
      {error && (
        <Box c="var(--mantine-color-error)" fz="xs" mt={4}>
          {error}
        </Box>
      )}
    </Box>
  );
}
