import { Button, Checkbox, Chip, Group, MultiSelect, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ariaKeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import { optionLabel } from '../engine/options';
import type { Option } from '../engine/types';
import { itemsOf } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { ChoiceBar, Swatch, WithKey } from './ChoiceBar';
import { optionKeys, useFieldKeys } from './keys';
import { OtherAnswers } from './OtherAnswers';
import { asText } from './text';

/** The words on an option, with what explains it and the key that picks it. */
function OptionText({ option, keys }: { option: Option; keys?: string }) {
  return (
    <Group gap={8} component="span" wrap="nowrap" align="center">
      <Swatch color={option.color} />
      <span>{optionLabel(option)}</span>
      {keys && <Hotkey keys={keys} />}
    </Group>
  );
}

const known = (options: readonly Option[], v: string) => options.some((o) => o.value === v);
const asOptions = (options: readonly Option[]) => options.map((o) => ({ value: o.value, label: optionLabel(o) }));

export function SelectInput(p: InputProps) {
  const options = p.field.options ?? [];
  const value = typeof p.value === 'string' ? p.value : undefined;
  const isOther = value !== undefined && !known(options, value);
  const [other, setOther] = useState(isOther && value !== '');
  const dropdown = p.field.style === 'dropdown';
  const keys = dropdown ? [] : optionKeys(options);
  const pick = (v: string) => {
    setOther(false);
    p.onChange(v);
  };
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    options.flatMap((o, i) => {
      const key = keys[i];
      return key ? [{ keys: key, label: optionLabel(o), run: () => pick(o.value) }] : [];
    }),
  );
  const printed = (i: number) => (p.keys ? keys[i] : undefined);
  const otherText = p.field.allow_other && (
    <OtherText {...p} text={isOther ? value : ''} open={other || isOther} setOpen={setOther} />
  );

  if (dropdown) {
    return (
      <Stack gap="xs">
        <Select
          id={p.id}
          aria-label={p.label}
          data={asOptions(options)}
          value={isOther ? null : (value ?? null)}
          onChange={(v) => (v === null ? p.onChange(undefined) : pick(v))}
          placeholder={p.field.placeholder ?? 'Pick one'}
          searchable={options.length > 7}
          clearable={!p.field.required}
          disabled={p.disabled}
          error={(p.problems?.length ?? 0) > 0}
          aria-describedby={p.describedBy}
          nothingFoundMessage="No option has that in it"
        />
        {otherText}
      </Stack>
    );
  }
  if (p.field.style === 'buttons') {
    return (
      <Stack gap="xs">
        <ChoiceBar
          name={p.id}
          labelledBy={p.label ? undefined : `${p.id}-label`}
          label={p.label}
          describedBy={p.describedBy}
          choices={options.map((o, i) => ({ ...o, label: optionLabel(o), hint: o.description, keys: printed(i) }))}
          value={value}
          onChange={pick}
          disabled={p.disabled}
        />
        {otherText}
      </Stack>
    );
  }
  return (
    <Stack gap="xs">
      <Radio.Group
        value={value ?? null}
        onChange={pick}
        name={p.id}
        aria-labelledby={p.label ? undefined : `${p.id}-label`}
        aria-label={p.label}
      >
        <Stack gap={6}>
          {options.map((o, i) => (
            <Radio
              key={o.value}
              value={o.value}
              label={<OptionText option={o} keys={printed(i)} />}
              description={o.description}
              disabled={p.disabled}
              aria-keyshortcuts={keys[i] && ariaKeys(keys[i])}
            />
          ))}
        </Stack>
      </Radio.Group>
      {otherText}
    </Stack>
  );
}

/** A text that stands for an option of its own. It stays in its line while it says what an option does: more may come. */
function OtherText(p: InputProps & { text: string; open: boolean; setOpen: (open: boolean) => void }) {
  const [typed, setTyped] = useState('');
  if (!p.open) {
    return (
      <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => p.setOpen(true)} disabled={p.disabled}>
        Another answer…
      </Button>
    );
  }
  return (
    <TextInput
      label="Another answer"
      value={typed === p.value ? typed : p.text}
      onChange={(e) => {
        setTyped(e.currentTarget.value);
        p.onChange(e.currentTarget.value || undefined);
      }}
      disabled={p.disabled}
      autoFocus={p.text === ''}
    />
  );
}

export function MultiSelectInput(p: InputProps) {
  const options = p.field.options ?? [];
  const chosen = itemsOf(p.value).map(asText);
  const exclusive = p.field.rules?.exclusive ?? [];
  const set = (next: string[]) => p.onChange(next.length > 0 ? next : undefined);
  const toggle = (v: string) => {
    if (chosen.includes(v)) set(chosen.filter((c) => c !== v));
    else if (exclusive.includes(v)) set([v]);
    else set([...chosen.filter((c) => !exclusive.includes(c)), v]);
  };
  const dropdown = p.field.style === 'dropdown';
  const keys = dropdown ? [] : optionKeys(options);
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    options.flatMap((o, i) => {
      const key = keys[i];
      return key ? [{ keys: key, label: optionLabel(o), run: () => toggle(o.value) }] : [];
    }),
  );
  const printed = (i: number) => (p.keys ? keys[i] : undefined);
  const strange = chosen.filter((c) => !known(options, c));
  const otherText = p.field.allow_other && (
    <OtherAnswers
      chosen={chosen}
      isOption={(v) => known(options, v)}
      exclusive={exclusive}
      disabled={p.disabled}
      onChange={set}
    />
  );
  if (dropdown) {
    return (
      <Stack gap="xs">
        <MultiSelect
          id={p.id}
          aria-label={p.label}
          data={asOptions(options)}
          value={chosen.filter((c) => known(options, c))}
          onChange={(next) => {
            const added = next.find((v) => !chosen.includes(v));
            if (added) toggle(added);
            else set([...next, ...strange]);
          }}
          placeholder={chosen.length === 0 ? (p.field.placeholder ?? 'Pick some') : undefined}
          searchable
          clearable
          disabled={p.disabled}
          error={(p.problems?.length ?? 0) > 0}
          aria-describedby={p.describedBy}
        />
        {otherText}
      </Stack>
    );
  }
  if (p.field.style === 'chips') {
    return (
      <Stack gap="xs">
        <Group gap={6}>
          {options.map((o, i) => (
            <WithKey key={o.value} keys={printed(i)}>
              <Chip
                checked={chosen.includes(o.value)}
                onChange={() => toggle(o.value)}
                disabled={p.disabled}
                title={o.description}
                variant="outline"
                aria-keyshortcuts={keys[i] && ariaKeys(keys[i])}
              >
                <OptionText option={o} />
              </Chip>
            </WithKey>
          ))}
        </Group>
        {otherText}
      </Stack>
    );
  }
  return (
    <Stack gap={6}>
      {options.map((o, i) => (
        <Checkbox
          key={o.value}
          checked={chosen.includes(o.value)}
          onChange={() => toggle(o.value)}
          label={<OptionText option={o} keys={printed(i)} />}
          description={o.description}
          disabled={p.disabled}
          aria-keyshortcuts={keys[i] && ariaKeys(keys[i])}
        />
      ))}
      {otherText}
    </Stack>
  );
}

export function SelectDisplay({ field, value }: DisplayProps) {
  const options = field.options ?? [];
  const values = Array.isArray(value) ? value.map(asText) : [asText(value)];
  return (
    <Group gap="sm">
      {values.map((v) => {
        const option = options.find((o) => o.value === v);
        return (
          <Group key={v} gap={6} wrap="nowrap">
            <Swatch color={option?.color} />
            <Text span>{option ? optionLabel(option) : v}</Text>
          </Group>
        );
      })}
    </Group>
  );
}
