import { Box, Group, Select, Text, Textarea } from '@mantine/core';
import { type ComponentType, useEffect, useState } from 'react';
import { chunk } from '@/lib/chunk';
import { Fallback } from '@/ui/Fallback';
import { allKept } from '../digits';
import { fieldLabel } from '../engine/options';
import type { DisplayProps, InputProps } from '../props';
import { unparsed, unparsedFault, unparsedText } from '../unparsed';
import type { CodeEditorProps } from './CodeEditor';
import { Limits } from './Limits';
import { asText } from './text';

const load = chunk(() => import('./CodeEditor'));
let editor: ComponentType<CodeEditorProps> | undefined;

/** The code editor, once it has come. */
function useEditor() {
  const [come, setCome] = useState(() => editor);
  useEffect(() => {
    let current = true;
    load().then(
      (m) => {
        editor = m.default;
        if (current) setCome(() => m.default);
      },
      () => {}, // offline: the plain one does
    );
    return () => {
      current = false;
    };
  }, []);
  return come;
}

/**
 * The editor; until it has come, a plain one that already takes what is typed. Who has begun in that stays in it: the
 * keys that follow would go to the page and answer other fields.
 */
export function Code(p: CodeEditorProps) {
  const Editor = useEditor();
  const [begun, setBegun] = useState(false);
  const plain = (
    <Textarea
      value={p.value}
      onFocus={() => setBegun(true)}
      onChange={(e) => p.onChange?.(e.currentTarget.value)}
      readOnly={p.readOnly || !p.onChange}
      aria-label={p.label}
      autosize
      minRows={4}
      styles={{ input: { fontFamily: 'monospace' } }}
    />
  );
  return <Fallback show={plain}>{Editor && !begun ? <Editor {...p} /> : plain}</Fallback>;
}

export function CodeInput(p: InputProps) {
  const languages = p.field.languages ?? [];
  const [language, setLanguage] = useState(languages[0]);
  const text = asText(p.value);
  return (
    <Box>
      {languages.length > 1 && (
        <Select
          size="xs"
          w={160}
          mb={4}
          data={languages}
          value={language ?? null}
          onChange={(v) => v && setLanguage(v)}
          allowDeselect={false}
          aria-label="Language for the colours"
        />
      )}
      <Code
        value={text}
        onChange={p.onChange}
        language={language}
        label={fieldLabel(p.field)}
        describedBy={p.describedBy}
        placeholder={p.field.placeholder}
        readOnly={p.disabled}
        error={(p.problems?.length ?? 0) > 0}
        required={p.field.required}
      />
      <Group justify="space-between" gap="sm">
        <Text size="xs" c="dimmed">
          {languages.length === 1 && languages[0]}
        </Text>
        <Limits text={text} rules={p.field.rules} />
      </Group>
    </Box>
  );
}

export function CodeDisplay({ field, value }: DisplayProps) {
  return <Code value={asText(value)} language={field.languages?.[0]} label={fieldLabel(field)} readOnly />;
}

/** JSON as text: valid, it is the value; else the text is kept until it is. */
export function JSONInput(p: InputProps) {
  const [typed, setTyped] = useState<string>();
  const fault = unparsedFault(p.value);
  const text = typed !== undefined && same(typed, p.value) ? typed : written(p.value);
  return (
    <Box>
      <Code
        value={text}
        onChange={(s) => {
          setTyped(s);
          p.onChange(readJSON(s));
        }}
        language="json"
        label={fieldLabel(p.field)}
        describedBy={p.describedBy}
        placeholder={p.field.placeholder}
        readOnly={p.disabled}
        error={(p.problems?.length ?? 0) > 0}
        required={p.field.required}
      />
      {fault && (
        <Text size="xs" c="dimmed" mt={4}>
          {fault}
        </Text>
      )}
    </Box>
  );
}

/**
 * The value of a JSON text: undefined when it is blank, the text itself, marked, when it is no JSON or the value would
 * have other numbers than it.
 */
export function readJSON(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return allKept(text) ? value : unparsed(text);
  } catch {
    return unparsed(text);
  }
}

function same(text: string, value: unknown): boolean {
  return JSON.stringify(readJSON(text)) === JSON.stringify(value);
}

function written(value: unknown): string {
  return unparsedText(value) ?? (value === undefined ? '' : JSON.stringify(value, null, 2));
}

export function JSONDisplay({ field, value }: DisplayProps) {
  if (value === undefined || value === null) return <Text c="dimmed">null</Text>;
  return <Code value={written(value)} language="json" label={fieldLabel(field)} readOnly />;
}
