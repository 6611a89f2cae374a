import { Accordion, Button, Checkbox, Group, Select, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { catalogue, rulesOf, scalarTypes, settingsOf, withType } from '@/pipeline/catalogue';
import { type Column, type Field, type FieldType, namePattern } from '@/pipeline/definition';
import { slug, unique } from '@/pipeline/names';
import { PartOf, usePart } from '../state/context';
import { CommitPart, PartBox, Section, TextPart } from './controls';
import { RulesEditor } from './RulesEditor';
import { Settings } from './Settings';

interface Props {
  value: Column[];
  onChange: (value: Column[]) => void;
}

/** The columns of a table, each with a scalar type of its own. */
export function ColumnsEditor({ value, onChange }: Props) {
  const [open, setOpen] = useState<string | null>(null);
  const set = (at: number, column: Column) => onChange(value.map((c, i) => (i === at ? column : c)));
  const add = () => {
    const name = unique(
      'column',
      value.map((c) => c.name),
    );
    onChange([...value, { name, type: 'short_text' }]);
    setOpen(String(value.length));
  };
  const move = (from: number, to: number) => {
    const out = [...value];
    const [moved] = out.splice(from, 1);
    if (moved) out.splice(to, 0, moved);
    onChange(out);
    setOpen(String(to));
  };
  return (
    <Section
      title="Columns"
      aside={
        <Button size="compact-sm" variant="light" leftSection={<IconPlus size={14} />} onClick={add}>
          Add a column
        </Button>
      }
    >
      <PartBox part="columns">
        <Accordion variant="contained" value={open} onChange={setOpen} chevronPosition="left" keepMounted={false}>
          {value.map((c, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may stand twice while they are typed
            <Accordion.Item key={i} value={String(i)}>
              <Accordion.Control data-part={`columns[${i}]`}>
                {c.title || c.name || '(no name)'} · {catalogue[c.type]?.label ?? c.type}
              </Accordion.Control>
              <Accordion.Panel>
                <PartOf name={`columns[${i}]`}>
                  <ColumnForm
                    column={c}
                    others={value.filter((_, j) => j !== i).map((x) => x.name)}
                    onChange={(x) => set(i, x)}
                  />
                  <Group gap="xs" mt="sm">
                    <Button size="compact-xs" variant="default" disabled={i === 0} onClick={() => move(i, i - 1)}>
                      Move up
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="default"
                      disabled={i === value.length - 1}
                      onClick={() => move(i, i + 1)}
                    >
                      Move down
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="light"
                      color="red"
                      onClick={() => onChange(value.filter((_, j) => j !== i))}
                    >
                      Remove
                    </Button>
                  </Group>
                </PartOf>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      </PartBox>
    </Section>
  );
}

function ColumnForm({ column, others, onChange }: { column: Column; others: string[]; onChange: (c: Column) => void }) {
  const type = usePart('type');
  const as = column as Column & Field;
  const set = (change: Partial<Column>) =>
    onChange(
      Object.fromEntries(
        Object.entries({ ...column, ...change }).filter(([, v]) => v !== undefined),
      ) as unknown as Column,
    );
  const fresh = /^column(_\d+)?$/.test(column.name);
  return (
    <Stack gap="xs">
      <Group grow align="flex-start">
        <TextPart
          part="title"
          label="Title"
          value={column.title}
          onChange={(title) => set({ title })}
          onBlur={() => fresh && column.title && set({ name: unique(slug(column.title, column.name), others) })}
        />
        <CommitPart
          part="name"
          label="Name"
          mono
          value={column.name}
          onChange={(name) => name && set({ name })}
          check={(name) => {
            if (!namePattern.test(name)) return 'A lower-case letter, then lower-case letters, digits and _';
            return others.includes(name) ? 'Another column has this name' : null;
          }}
        />
      </Group>
      <Group align="flex-end" grow>
        <Select
          {...type}
          label="Type"
          allowDeselect={false}
          data={scalarTypes.map((t) => ({ value: t, label: catalogue[t].label }))}
          value={column.type}
          onChange={(t) => {
            if (!t) return;
            const {
              input: _input,
              style: _style,
              unit: _unit,
              placeholder: _placeholder,
              ...kept
            } = withType({ ...as, input: 'contributor' }, t as FieldType);
            onChange(kept as Column);
          }}
        />
        <Checkbox
          label="Required"
          checked={column.required ?? false}
          onChange={(e) => set({ required: e.currentTarget.checked || undefined })}
          mb={8}
        />
      </Group>
      <TextPart
        part="description"
        label="Description"
        value={column.description}
        onChange={(description) => set({ description })}
      />
      <Settings
        field={as}
        settings={settingsOf(column).filter((s) => s !== 'unit' && s !== 'placeholder')}
        known={[]}
        onChange={(change) => set(change as Partial<Column>)}
      />
      <RulesEditor
        field={as}
        known={[]}
        rules={rulesOf(column).filter((r) => r !== 'equals_field' && r !== 'parse')}
        value={column.rules}
        onChange={(rules) => set({ rules })}
      />
    </Stack>
  );
}
