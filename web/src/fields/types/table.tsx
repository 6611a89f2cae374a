import { ActionIcon, Button, Group, Stack, Table, Text } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useRef } from 'react';
import { cellField } from '../engine/kinds/table';
import { fieldLabel } from '../engine/options';
import type { Field } from '../engine/types';
import { isObject, itemsOf, member } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { FieldDisplay, FieldInput } from '../registry';
import { Amount } from './list';
import { partProblems } from './parts';

/** In a cell there is room for a dropdown, not for a list of radios. */
function compact(cell: Field): Field {
  if (cell.type === 'select') return { ...cell, style: 'dropdown' };
  if (cell.type === 'rating') return { ...cell, style: 'stars' };
  return cell;
}

export function TableInput(p: InputProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rows = itemsOf(p.value);
  const columns = p.field.columns ?? [];
  const set = (next: readonly unknown[]) => p.onChange(next.length > 0 ? next : undefined);
  const change = (i: number, name: string, v: unknown) =>
    set(
      rows.map((row, j) => {
        if (j !== i) return row;
        const { [name]: _, ...rest } = isObject(row) ? row : {};
        return v === undefined ? rest : { ...rest, [name]: v };
      }),
    );
  const add = () => {
    set([...rows, {}]);
    requestAnimationFrame(() => body.current?.lastElementChild?.querySelector<HTMLElement>('input,textarea')?.focus());
  };
  return (
    <Stack gap="xs">
      {rows.length > 0 && (
        <Table.ScrollContainer minWidth={Math.max(280, columns.length * 150)}>
          <Table withTableBorder withColumnBorders aria-label={fieldLabel(p.field)}>
            <Table.Thead>
              <Table.Tr>
                {columns.map((col) => (
                  <Table.Th key={col.name} title={col.description}>
                    {fieldLabel(col)}
                    {col.required && <span aria-hidden="true"> *</span>}
                  </Table.Th>
                ))}
                <Table.Th w={44}>
                  <span className="sr-only">Remove</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody ref={body}>
              {rows.map((row, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
                <Table.Tr key={i}>
                  {columns.map((col) => {
                    const problems = partProblems(p.problems, i, col.name);
                    return (
                      <Table.Td key={col.name} style={{ verticalAlign: 'top' }}>
                        <FieldInput
                          field={compact({ ...cellField(col), title: `${fieldLabel(col)}, row ${i + 1}` })}
                          value={member(row, col.name)}
                          onChange={(v) => change(i, col.name, v)}
                          context={p.context}
                          disabled={p.disabled}
                          problems={problems}
                        />
                        {problems.map((problem) => (
                          <Text key={problem.message} size="xs" c="var(--mantine-color-error)">
                            {problem.message}
                          </Text>
                        ))}
                      </Table.Td>
                    );
                  })}
                  <Table.Td>
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      onClick={() => set(rows.filter((_, j) => j !== i))}
                      disabled={p.disabled}
                      aria-label={`Remove row ${i + 1}`}
                    >
                      <IconX size={16} />
                    </ActionIcon>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Group justify="space-between">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={add}
          disabled={p.disabled}
          id={rows.length === 0 ? p.id : undefined}
        >
          Add a row
        </Button>
        <Amount n={rows.length} field={p.field} one="row" many="rows" />
      </Group>
    </Stack>
  );
}

export function TableDisplay({ field, value, context }: DisplayProps) {
  const columns = field.columns ?? [];
  return (
    <Table.ScrollContainer minWidth={Math.max(240, columns.length * 110)}>
      <Table withTableBorder withColumnBorders aria-label={fieldLabel(field)}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((col) => (
              <Table.Th key={col.name}>{fieldLabel(col)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {itemsOf(value).map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            <Table.Tr key={i}>
              {columns.map((col) => (
                <Table.Td key={col.name}>
                  {member(row, col.name) !== undefined && (
                    <FieldDisplay field={cellField(col)} value={member(row, col.name)} context={context} />
                  )}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
