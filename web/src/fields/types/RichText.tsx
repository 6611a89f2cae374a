import { ActionIcon, Box, Group, SegmentedControl, Textarea } from '@mantine/core';
import { IconBold, IconCode, IconItalic, IconLink, IconList } from '@tabler/icons-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Markdown } from '@/ui/Markdown';
import type { DisplayProps, InputProps } from '../props';
import { Limits } from './Limits';
import { asText, controlProps } from './text';

interface Tool {
  name: string;
  icon: typeof IconBold;
  before: string;
  after: string;
  key?: string;
}

const tools: Tool[] = [
  { name: 'Bold', icon: IconBold, before: '**', after: '**', key: 'b' },
  { name: 'Italic', icon: IconItalic, before: '_', after: '_', key: 'i' },
  { name: 'Code', icon: IconCode, before: '`', after: '`' },
  { name: 'List', icon: IconList, before: '\n- ', after: '' },
  { name: 'Link', icon: IconLink, before: '[', after: '](https://)' },
];

/** Markdown, with the marks that people forget on buttons and a preview. */
export function RichTextInput(p: InputProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [mode, setMode] = useState('write');
  const text = asText(p.value);

  const wrap = (tool: Tool) => {
    const el = area.current;
    if (!el) return;
    const [start, end] = [el.selectionStart, el.selectionEnd];
    el.focus();
    const marked = `${tool.before}${text.slice(start, end)}${tool.after}`;
    // The browser's own command keeps its undo; where it is missing, the value is set.
    if (!document.execCommand?.('insertText', false, marked))
      p.onChange(text.slice(0, start) + marked + text.slice(end));
    el.setSelectionRange(start + tool.before.length, end + tool.before.length);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const tool = tools.find((t) => t.key === e.key.toLowerCase());
    if (!tool || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    e.preventDefault();
    wrap(tool);
  };

  return (
    <Box>
      <Group justify="space-between" mb={4} gap="xs">
        <SegmentedControl
          size="xs"
          value={mode}
          onChange={setMode}
          data={[
            { value: 'write', label: 'Write' },
            { value: 'preview', label: 'Preview' },
          ]}
        />
        {mode === 'write' && (
          <Group gap={2}>
            {tools.map((tool) => (
              <ActionIcon
                key={tool.name}
                variant="subtle"
                color="gray"
                onClick={() => wrap(tool)}
                disabled={p.disabled}
                aria-label={tool.name}
                title={tool.key ? `${tool.name} (Ctrl+${tool.key.toUpperCase()})` : tool.name}
              >
                <tool.icon size={16} />
              </ActionIcon>
            ))}
          </Group>
        )}
      </Group>
      {mode === 'write' ? (
        <Textarea {...controlProps(p)} ref={area} autosize minRows={5} maxRows={30} onKeyDown={onKeyDown} />
      ) : (
        <Box p="sm" bd="1px solid var(--mantine-color-default-border)" mih={120} style={{ borderRadius: 8 }}>
          <Markdown>{text || '_Nothing to show yet._'}</Markdown>
        </Box>
      )}
      <Limits text={text} rules={p.field.rules} />
    </Box>
  );
}

export function RichTextDisplay({ value }: DisplayProps) {
  return <Markdown>{asText(value)}</Markdown>;
}
