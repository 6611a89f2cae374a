import { Button, Group, NumberInput, Pill, Popover, Select, Stack, TextInput } from '@mantine/core';
import { IconFilter, IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { ages, type Filters, filterWords, nodeStatuses, spaced, taskStatuses } from './filters';
import type { Choice } from './useNames';

interface Props {
  /** Stands at the other end of the first line. */
  aside?: ReactNode;
  filters: Filters;
  onChange: (filters: Filters) => void;
  names: { nodes: Choice[]; people: Choice[]; node: (key: string) => string; person: (id: number) => string };
}

const holds = [
  { value: 'true', label: 'on hold' },
  { value: 'false', label: 'not on hold' },
];

/** What the list is narrowed to. The commonest stand open, the others behind one button. */
export function FilterBar({ aside, filters, onChange, names }: Props) {
  const set = (part: Partial<Filters>) => onChange({ ...filters, ...part });
  const words = filterWords(filters, names);
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-end">
        <Group gap="xs" align="flex-end">
          <TaskId value={filters.id} onChange={(id) => set({ id })} />
          <Select
            size="sm"
            w={150}
            label="Status"
            placeholder="any"
            clearable
            data={taskStatuses.map((s) => ({ value: s, label: spaced(s) }))}
            value={filters.status ?? null}
            onChange={(v) => set({ status: taskStatuses.find((s) => s === v) })}
          />
          <Select
            size="sm"
            w={190}
            label="Step"
            placeholder="any"
            clearable
            data={names.nodes}
            value={filters.node ?? null}
            onChange={(v) => set({ node: v ?? undefined })}
          />
          <Popover position="bottom-start" withArrow trapFocus>
            <Popover.Target>
              <Button variant="default" leftSection={<IconFilter size={16} />}>
                More filters
              </Button>
            </Popover.Target>
            <Popover.Dropdown>
              <Stack gap="xs" w={230}>
                <Select
                  label="Step is"
                  placeholder="any status"
                  clearable
                  comboboxProps={{ withinPortal: false }}
                  data={nodeStatuses.map((s) => ({ value: s, label: spaced(s) }))}
                  value={filters.node_status ?? null}
                  onChange={(v) => set({ node_status: nodeStatuses.find((s) => s === v) })}
                />
                <Select
                  label="Held by"
                  placeholder="anybody"
                  clearable
                  searchable
                  comboboxProps={{ withinPortal: false }}
                  data={names.people}
                  value={filters.person === undefined ? null : String(filters.person)}
                  onChange={(v) => set({ person: v ? Number(v) : undefined })}
                />
                <Select
                  label="Created"
                  placeholder="at any time"
                  clearable
                  comboboxProps={{ withinPortal: false }}
                  data={ages}
                  value={filters.age ?? null}
                  onChange={(v) => set({ age: v ?? undefined })}
                />
                <NumberInput
                  label="Priority"
                  placeholder="any"
                  min={-100}
                  max={100}
                  allowDecimal={false}
                  value={filters.priority ?? ''}
                  onChange={(v) => set({ priority: v === '' ? undefined : Number(v) })}
                />
                <Select
                  label="Hold"
                  placeholder="any"
                  clearable
                  comboboxProps={{ withinPortal: false }}
                  data={holds}
                  value={filters.held === undefined ? null : String(filters.held)}
                  onChange={(v) => set({ held: v === null ? undefined : v === 'true' })}
                />
              </Stack>
            </Popover.Dropdown>
          </Popover>
        </Group>
        {aside}
      </Group>
      {words.length > 0 && (
        <Group gap={6} aria-label="Active filters" role="group">
          {words.map((w) => (
            <Pill
              key={w.key}
              withRemoveButton
              removeButtonProps={{ 'aria-label': `Remove the filter ${w.text}`, 'aria-hidden': false, tabIndex: 0 }}
              onRemove={() => set({ [w.key]: undefined })}
            >
              {w.text}
            </Pill>
          ))}
          <Button size="compact-xs" variant="subtle" onClick={() => onChange({})}>
            Clear all
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Typed ids take effect on Enter or when the field is left, not while typing. */
function TaskId({ value, onChange }: { value: number | undefined; onChange: (id: number | undefined) => void }) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  useEffect(() => setText(value === undefined ? '' : String(value)), [value]);
  const id = /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
  const wrong = text.trim() !== '' && id === undefined;
  const apply = () => {
    if (!wrong && id !== value) onChange(id);
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        apply();
      }}
    >
      <TextInput
        size="sm"
        w={130}
        label="Task id"
        inputMode="numeric"
        leftSection={<IconSearch size={14} />}
        value={text}
        error={wrong ? 'a number' : undefined}
        onChange={(e) => setText(e.currentTarget.value)}
        onBlur={apply}
      />
    </form>
  );
}
