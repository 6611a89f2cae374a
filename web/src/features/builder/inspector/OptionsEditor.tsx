import { ActionIcon, Button, Collapse, ColorInput, Group, Stack, TextInput, Tooltip } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDots, IconPlus, IconTrash } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Option } from '@/pipeline/definition';
import { slug, unique } from '@/pipeline/names';
import { PartOf, usePart } from '../state/context';
import { PartBox, Section, TextPart } from './controls';

interface Props {
  /** The key in the definition: options, rows, items, labels. */
  part: string;
  title: string;
  /** What one of them is called: "option". */
  noun: string;
  value: Option[];
  onChange: (value: Option[]) => void;
}

const colors = ['#e03131', '#e8590c', '#f08c00', '#2f9e44', '#0c8599', '#1971c2', '#6741d9', '#c2255c', '#495057'];

/** Choices in order, each with its value and label; description, hotkey and colour on demand. Enter adds the next. */
export function OptionsEditor({ part, title, noun, value, onChange }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const set = (at: number, change: Partial<Option>) =>
    onChange(value.map((o, i) => (i === at ? tidy({ ...o, ...change }) : o)));
  const focus = (at: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLInputElement>('[data-option-label]')[at]?.focus());
  const add = (at: number) => {
    const made = unique(
      slug(noun, 'option'),
      value.map((o) => o.value),
    );
    onChange([...value.slice(0, at), { value: made }, ...value.slice(at)]);
    focus(at);
  };
  const move = (from: number, to: number) => {
    const out = [...value];
    const [moved] = out.splice(from, 1);
    if (!moved || to < 0 || to > out.length) return;
    out.splice(to, 0, moved);
    onChange(out);
  };
  return (
    <Section
      title={title}
      aside={
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<IconPlus size={14} />}
          onClick={() => add(value.length)}
        >
          Add {noun === 'item' || noun === 'option' ? 'an' : 'a'} {noun}
        </Button>
      }
    >
      <PartBox part={part}>
        <Stack gap={6} ref={list}>
          {value.map((o, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: values may stand twice while they are typed
            <PartOf key={i} name={`${part}[${i}]`}>
              <OptionRow
                option={o}
                noun={`${noun} ${i + 1}`}
                taken={value.filter((_, j) => j !== i).map((x) => x.value)}
                onChange={(change) => set(i, change)}
                onEnter={() => add(i + 1)}
                onUp={i > 0 ? () => move(i, i - 1) : undefined}
                onDown={i < value.length - 1 ? () => move(i, i + 1) : undefined}
                onRemove={() => {
                  onChange(value.filter((_, j) => j !== i));
                  focus(Math.max(0, i - 1));
                }}
              />
            </PartOf>
          ))}
        </Stack>
      </PartBox>
    </Section>
  );
}

interface RowProps {
  option: Option;
  noun: string;
  taken: string[];
  onChange: (change: Partial<Option>) => void;
  onEnter: () => void;
  onUp?: () => void;
  onDown?: () => void;
  onRemove: () => void;
}

function OptionRow({ option, noun, taken, onChange, onEnter, onUp, onDown, onRemove }: RowProps) {
  const at = usePart('value');
  const [more, setMore] = useState(Boolean(option.description || option.hotkey || option.color));
  // A value that follows its label goes on doing so while the label is typed.
  const follows =
    !option.label ||
    option.value === slug(option.label, option.value) ||
    /^\w+_\d+$|^(option|row|item|label)$/.test(option.value);
  const label = (text: string) =>
    onChange({ label: text || undefined, ...(follows && text && { value: unique(slug(text, option.value), taken) }) });
  return (
    <Stack gap={4}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <TextInput
          data-option-label
          aria-label={`Label of ${noun}`}
          placeholder={option.value || 'Label'}
          value={option.label ?? ''}
          onChange={(e) => label(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key !== 'Enter') return;
            e.preventDefault();
            onEnter();
          }}
          style={{ flex: 3 }}
        />
        <TextInput
          {...at}
          aria-label={`Value of ${noun}`}
          title="The value that is kept and sent"
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          value={option.value}
          onChange={(e) => onChange({ value: e.currentTarget.value })}
          style={{ flex: 2 }}
        />
        <Group gap={0} wrap="nowrap" mt={4}>
          <Icon label={`More of ${noun}`} onClick={() => setMore(!more)} icon={<IconDots size={16} />} pressed={more} />
          <Icon label={`${noun} up`} onClick={onUp} icon={<IconArrowUp size={16} />} />
          <Icon label={`${noun} down`} onClick={onDown} icon={<IconArrowDown size={16} />} />
          <Icon label={`Remove ${noun}`} onClick={onRemove} icon={<IconTrash size={16} />} />
        </Group>
      </Group>
      <Collapse expanded={more}>
        <Group gap={6} align="flex-start" pb={6}>
          <TextPart
            part="description"
            label="Description"
            value={option.description}
            onChange={(description) => onChange({ description })}
            style={{ flex: 1 }}
          />
          <TextPart
            part="hotkey"
            label="Key"
            w={56}
            maxLength={1}
            value={option.hotkey}
            onChange={(hotkey) => onChange({ hotkey })}
          />
          <ColorInput
            data-part="color"
            label="Colour"
            withEyeDropper={false}
            w={110}
            format="hex"
            swatches={colors}
            value={option.color ?? ''}
            onChange={(color) => onChange({ color: color || undefined })}
          />
        </Group>
      </Collapse>
    </Stack>
  );
}

function Icon({
  label,
  onClick,
  icon,
  pressed,
}: {
  label: string;
  onClick?: () => void;
  icon: React.ReactNode;
  pressed?: boolean;
}) {
  return (
    <Tooltip label={label} openDelay={500}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={label}
        aria-pressed={pressed}
        disabled={!onClick}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function tidy(o: Option): Option {
  return Object.fromEntries(
    Object.entries(o).filter(([k, v]) => k === 'value' || v !== undefined),
  ) as unknown as Option;
}
