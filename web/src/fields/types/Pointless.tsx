import { Button, Group, Text } from '@mantine/core';
import { empty } from '../engine/value';
import type { InputProps } from '../props';

type Props = Pick<InputProps, 'value' | 'onChange' | 'disabled'> & { why: string };

/** Stands where a control would while its source is empty. What was answered before that can only be taken back. */
export function Pointless({ value, onChange, disabled, why }: Props) {
  return (
    <Group gap="sm">
      <Text c="dimmed">{why}</Text>
      {!empty(value) && (
        <Button size="compact-sm" variant="light" onClick={() => onChange(undefined)} disabled={disabled}>
          Take the answer back
        </Button>
      )}
    </Group>
  );
}
