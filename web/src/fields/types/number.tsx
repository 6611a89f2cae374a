import { ActionIcon, Group, Slider, Text, TextInput } from '@mantine/core';
import { IconMinus, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { isKept, isNumeral } from '../digits';
import { numeral } from '../engine/kinds/number';
import { fieldLabel } from '../engine/options';
import { numberText } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { asText, controlProps } from './text';

/**
 * A number as people type it; anything else stays a text, which the rules then name. So does one of more digits than
 * can be kept: another than the one on the screen would be handed in.
 */
export function readNumber(text: string): number | string | undefined {
  const s = text.trim();
  if (s === '') return undefined;
  return isKept(s) ? Number(s) : text;
}

function tooLong(v: unknown): boolean {
  return typeof v === 'string' && isNumeral(v.trim()) && !isKept(v.trim());
}

/** A number, or text that is none yet: what was typed is never changed. */
export function NumberInput(p: InputProps) {
  const [typed, setTyped] = useState<string>();
  const text = typed !== undefined && readNumber(typed) === p.value ? typed : asText(p.value);
  const rules = p.field.rules ?? {};
  const [min, max] = [numeral(rules.min), numeral(rules.max)];
  const step = numeral(rules.step) ?? (p.field.type === 'integer' ? 1 : 10 ** -(rules.decimals ?? 0));
  const set = (s: string) => {
    setTyped(s);
    p.onChange(readNumber(s));
  };
  const move = (by: number) => {
    const from = numeral(p.value);
    const next = from === undefined ? (min ?? 0) : Number((from + by * step).toPrecision(15));
    set(numberText(Math.min(max ?? next, Math.max(min ?? next, next))));
  };
  const control = controlProps(p);
  const box = (
    <TextInput
      {...control}
      error={tooLong(p.value) ? 'These are more digits than can be kept: shorten the number.' : control.error}
      value={text}
      onChange={(e) => set(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.ctrlKey || e.metaKey || e.altKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return;
        e.preventDefault();
        move(e.key === 'ArrowUp' ? 1 : -1);
      }}
      inputMode={p.field.type === 'integer' ? 'numeric' : 'decimal'}
      autoComplete="off"
      maw={260}
      rightSection={p.field.unit && <Text size="sm">{p.field.unit}</Text>}
      rightSectionWidth={p.field.unit ? Math.max(36, p.field.unit.length * 10 + 16) : undefined}
      rightSectionPointerEvents="none"
    />
  );
  if (p.field.style === 'slider' && min !== undefined && max !== undefined) {
    return (
      <Group gap="md" wrap="nowrap">
        <Slider
          flex={1}
          min={min}
          max={max}
          step={step}
          value={numeral(p.value) ?? min}
          onChange={(n) => set(numberText(n))}
          disabled={p.disabled}
          thumbLabel={fieldLabel(p.field)}
          marks={[
            { value: min, label: numberText(min) },
            { value: max, label: numberText(max) },
          ]}
          mb="lg"
        />
        {box}
      </Group>
    );
  }
  if (p.field.style === 'stepper') {
    return (
      <Group gap="xs" wrap="nowrap">
        <ActionIcon variant="default" size="lg" onClick={() => move(-1)} disabled={p.disabled} aria-label="Less">
          <IconMinus size={16} />
        </ActionIcon>
        {box}
        <ActionIcon variant="default" size="lg" onClick={() => move(1)} disabled={p.disabled} aria-label="More">
          <IconPlus size={16} />
        </ActionIcon>
      </Group>
    );
  }
  return box;
}

export function NumberDisplay({ field, value }: DisplayProps) {
  return (
    <Text>
      {asText(value)}
      {field.unit && ` ${field.unit}`}
    </Text>
  );
}
