import { Anchor, Box, Text, Textarea, TextInput } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { parseLink } from '../engine/link';
import { show } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { Limits } from './Limits';

/** What a text control shows of a value that may have another shape. */
export function asText(v: unknown): string {
  if (v === undefined || v === null) return '';
  return typeof v === 'string' ? v : typeof v === 'object' ? JSON.stringify(v) : show(v);
}

/** What every text control of the form has. */
export function controlProps(p: InputProps) {
  return {
    id: p.id,
    value: asText(p.value),
    onChange: (e: { currentTarget: { value: string } }) => p.onChange(e.currentTarget.value),
    placeholder: p.field.placeholder,
    disabled: p.disabled,
    'aria-label': p.label,
    'aria-describedby': p.describedBy,
    'aria-required': p.field.required || undefined,
    error: (p.problems?.length ?? 0) > 0,
  };
}

export function ShortTextInput(p: InputProps) {
  return (
    <Box>
      <TextInput {...controlProps(p)} autoComplete="off" />
      <Limits text={asText(p.value)} rules={p.field.rules} />
    </Box>
  );
}

export function LongTextInput(p: InputProps) {
  return (
    <Box>
      <Textarea {...controlProps(p)} autosize minRows={3} maxRows={24} />
      <Limits text={asText(p.value)} rules={p.field.rules} />
    </Box>
  );
}

export function TextDisplay({ value }: DisplayProps) {
  return (
    <Text component="div" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {asText(value)}
    </Text>
  );
}

export function URLInput(p: InputProps) {
  const text = asText(p.value);
  return (
    <TextInput
      {...controlProps(p)}
      type="url"
      inputMode="url"
      autoComplete="off"
      spellCheck={false}
      placeholder={p.field.placeholder ?? 'https://'}
      rightSection={openable(text) && <OpenLink url={text} />}
    />
  );
}

/** Web addresses only: other schemes are shown, not linked. */
export function openable(url: string): boolean {
  const link = parseLink(url);
  return typeof link !== 'string' && (link.scheme === 'https' || link.scheme === 'http');
}

function OpenLink({ url }: { url: string }) {
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" aria-label="Open the address in a new tab">
      <IconExternalLink size={16} />
    </Anchor>
  );
}

export function URLDisplay({ value }: DisplayProps) {
  const url = asText(value);
  if (!openable(url)) return <Text style={{ overflowWrap: 'anywhere' }}>{url}</Text>;
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" style={{ overflowWrap: 'anywhere' }}>
      {url}
    </Anchor>
  );
}
