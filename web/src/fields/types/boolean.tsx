import { Checkbox, Switch, Text } from '@mantine/core';
import { Hotkey } from '@/ui/Hotkey';
import { fieldLabel } from '../engine/options';
import type { DisplayProps, InputProps } from '../props';
import { ChoiceBar } from './ChoiceBar';
import { useFieldKeys } from './keys';

/** A checkbox that was never touched is not answered: neither yes nor no. */
export function BooleanInput(p: InputProps) {
  const value = typeof p.value === 'boolean' ? p.value : undefined;
  const choose = p.field.style === 'yes_no';
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    choose
      ? [
          { keys: 'y', label: 'Yes', run: () => p.onChange(true) },
          { keys: 'n', label: 'No', run: () => p.onChange(false) },
        ]
      : [{ keys: 'x', label: 'Check or uncheck', run: () => p.onChange(!value) }],
  );
  if (choose) {
    return (
      <ChoiceBar
        name={p.id}
        labelledBy={p.label ? undefined : `${p.id}-label`}
        label={p.label}
        describedBy={p.describedBy}
        choices={[
          { value: 'yes', label: 'Yes', keys: p.keys ? 'y' : undefined },
          { value: 'no', label: 'No', keys: p.keys ? 'n' : undefined },
        ]}
        value={value === undefined ? undefined : value ? 'yes' : 'no'}
        onChange={(v) => p.onChange(v === 'yes')}
        disabled={p.disabled}
      />
    );
  }
  const Control = p.field.style === 'switch' ? Switch : Checkbox;
  return (
    <Control
      id={p.id}
      checked={value ?? false}
      onChange={(e) => p.onChange(e.currentTarget.checked)}
      label={
        <>
          {p.field.placeholder || (p.field.rules?.must_be_true ? 'I agree' : 'Yes')} {p.keys && <Hotkey keys="x" />}
        </>
      }
      aria-label={`${fieldLabel(p.field)}: yes`}
      disabled={p.disabled}
      error={(p.problems?.length ?? 0) > 0}
      aria-describedby={p.describedBy}
    />
  );
}

export function BooleanDisplay({ value }: DisplayProps) {
  return <Text>{value === true ? 'Yes' : value === false ? 'No' : String(value)}</Text>;
}
