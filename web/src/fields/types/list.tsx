import { ActionIcon, Box, Button, Group, List, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useRef } from 'react';
import { itemField } from '../engine/kinds/list';
import { fieldLabel } from '../engine/options';
import { itemsOf } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { FieldDisplay, FieldInput } from '../registry';
import { partProblems } from './parts';

/** Items below each other: Enter adds one, Alt+arrows move one, Backspace in an empty one takes it away. */
export function ListInput(p: InputProps) {
  const box = useRef<HTMLDivElement>(null);
  const items = itemsOf(p.value);
  const shown = items.length > 0 ? items : [undefined];
  const item = itemField(p.field);
  const oneLine = item.type !== 'long_text';
  const set = (next: readonly unknown[]) => p.onChange(next.length > 0 ? next.map((v) => v ?? null) : undefined);
  const focus = (i: number) =>
    requestAnimationFrame(() =>
      box.current
        ?.querySelectorAll<HTMLElement>('[data-item]')
        [i]?.querySelector<HTMLElement>('input,textarea')
        ?.focus(),
    );
  const add = (after: number) => {
    set([...shown.slice(0, after + 1), '', ...shown.slice(after + 1)]);
    focus(after + 1);
  };
  const remove = (i: number) => {
    set(shown.filter((_, j) => j !== i));
    focus(Math.max(0, i - 1));
  };
  const move = (i: number, by: number) => {
    const to = i + by;
    if (to < 0 || to >= shown.length) return;
    set(shown.toSpliced(i, 1).toSpliced(to, 0, shown[i]));
    focus(to);
  };
  const onKeyDown = (e: KeyboardEvent, i: number) => {
    if (p.disabled || e.nativeEvent.isComposing || e.ctrlKey || e.metaKey) return;
    const arrow = e.key === 'ArrowUp' || e.key === 'ArrowDown';
    const typing = e.target instanceof HTMLInputElement && e.target.type !== 'radio';
    if (e.altKey && arrow) move(i, e.key === 'ArrowUp' ? -1 : 1);
    else if (e.key === 'Enter' && oneLine && typing) add(i);
    else if (e.key === 'Backspace' && typing && (shown[i] ?? '') === '' && shown.length > 1) remove(i);
    else return;
    e.preventDefault();
  };
  return (
    <Stack gap={6} ref={box}>
      {shown.map((value, i) => {
        const problems = partProblems(p.problems, i);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
          <Box key={i} data-item>
            <Group
              gap={6}
              wrap="nowrap"
              align="flex-start"
              role="group"
              aria-label={`Item ${i + 1}`}
              onKeyDown={(e) => onKeyDown(e, i)}
            >
              <Box flex={1} miw={0}>
                <FieldInput
                  field={{ ...item, title: `${fieldLabel(p.field)}, item ${i + 1}` }}
                  value={value}
                  onChange={(v) => set(shown.map((old, j) => (j === i ? v : old)))}
                  context={p.context}
                  disabled={p.disabled}
                  problems={problems}
                />
              </Box>
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                onClick={() => move(i, -1)}
                disabled={p.disabled || i === 0}
                aria-label={`Item ${i + 1}: up`}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                onClick={() => move(i, 1)}
                disabled={p.disabled || i === shown.length - 1}
                aria-label={`Item ${i + 1}: down`}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                onClick={() => remove(i)}
                disabled={p.disabled || items.length === 0}
                aria-label={`Item ${i + 1}: remove`}
              >
                <IconX size={16} />
              </ActionIcon>
            </Group>
            {problems.map((problem) => (
              <Text key={problem.message} size="xs" c="var(--mantine-color-error)">
                {problem.message}
              </Text>
            ))}
          </Box>
        );
      })}
      <Group justify="space-between">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={() => add(shown.length - 1)}
          disabled={p.disabled}
        >
          Add an item
        </Button>
        <Amount n={items.length} field={p.field} one="item" many="items" />
      </Group>
    </Stack>
  );
}

/** How many there are of how many there may be. */
export function Amount(p: { n: number; field: InputProps['field']; one: string; many: string }) {
  const { min_items: least, max_items: most } = p.field.rules ?? {};
  const over = most !== undefined && p.n > most;
  return (
    <Text size="xs" c={over ? 'red' : 'dimmed'} fw={over ? 700 : undefined}>
      {p.n}
      {most !== undefined && ` / ${most}`} {p.n === 1 && most === undefined ? p.one : p.many}
      {least !== undefined && p.n < least && ` (at least ${least})`}
    </Text>
  );
}

export function ListDisplay({ field, value, context }: DisplayProps) {
  const item = itemField(field);
  return (
    <List>
      {itemsOf(value).map((v, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
        <List.Item key={i}>
          <FieldDisplay field={item} value={v} context={context} />
        </List.Item>
      ))}
    </List>
  );
}
