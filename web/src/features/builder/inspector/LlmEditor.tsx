import { Button, Group, Menu, MultiSelect, Paper, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { IconBraces, IconPlus, IconTrash } from '@tabler/icons-react';
import { useRef } from 'react';
import { type Field, type Generation, limits, type Tool } from '@/pipeline/definition';
import { slots } from '@/pipeline/prompt';
import { Notice } from '../Notice';
import { PartOf, useBuilder, usePart } from '../state/context';
import { fieldChoices } from './choices';
import { AreaPart, PartBox, Section, TextPart } from './controls';
import { JSONArea } from './JSONArea';

interface Props {
  value: Generation;
  onChange: (value: Generation, tag?: string) => void;
  known: readonly Field[];
}

/** How a language model writes the field: model, prompt, what it sees and what it may call. */
export function LlmEditor({ value, onChange, known }: Props) {
  const { models, llm } = useBuilder();
  const model = usePart('model');
  const prompt = usePart('prompt');
  const context = usePart('context');
  const area = useRef<HTMLTextAreaElement>(null);
  const set = (change: Partial<Generation>, tag?: string) => {
    const left = Object.entries({ ...value, ...change }).filter(([, v]) => v !== undefined);
    onChange(Object.fromEntries(left) as unknown as Generation, tag);
  };
  const setPrompt = (text: string) => {
    // What the prompt names and is known, the model must see.
    const named = slots(text).filter((n) => known.some((f) => f.name === n));
    const all = [...new Set([...(value.context ?? []), ...named])];
    set({ prompt: text, context: all.length > 0 ? all : undefined }, 'prompt');
  };
  const insert = (name: string) => {
    const at = area.current;
    const [from, to] = [at?.selectionStart ?? value.prompt.length, at?.selectionEnd ?? value.prompt.length];
    const slot = `{{${name}}}`;
    setPrompt(value.prompt.slice(0, from) + slot + value.prompt.slice(to));
    requestAnimationFrame(() => {
      at?.focus();
      at?.setSelectionRange(from + slot.length, from + slot.length);
    });
  };
  const offered = [...new Set([...models, ...(value.model ? [value.model] : [])])];
  const choices = fieldChoices(known);
  const gone = (value.context ?? []).filter((n) => !known.some((f) => f.name === n));
  return (
    <Section title="Language model">
      {llm === false && (
        <Notice color="yellow" variant="light" title="No language model fills this in yet">
          This release cannot run such fields: a pipeline with one is saved as a draft, and cannot be published.
        </Notice>
      )}
      {models.length > 0 ? (
        <Select
          {...model}
          label="Model"
          allowDeselect={false}
          data={offered.map((m) => ({ value: m, label: models.includes(m) ? m : `${m} (not configured here)` }))}
          value={value.model || null}
          onChange={(m) => m && set({ model: m })}
        />
      ) : (
        <TextInput
          {...model}
          label="Model"
          description="The alias of a model"
          value={value.model}
          onChange={(e) => set({ model: e.currentTarget.value }, 'model')}
        />
      )}
      <Textarea
        {...prompt}
        ref={area}
        label={
          <Group component="span" gap="xs">
            Prompt
          </Group>
        }
        description="Names of fields in {{double braces}} stand for their values"
        autosize
        minRows={4}
        maxRows={20}
        maxLength={limits.prompt}
        value={value.prompt}
        onChange={(e) => setPrompt(e.currentTarget.value)}
      />
      {choices.length > 0 && (
        <Menu position="bottom-start" shadow="md">
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconBraces size={14} />}
              style={{ alignSelf: 'flex-start' }}
            >
              Insert a field
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah={300} style={{ overflowY: 'auto' }}>
            {choices.map((c) => (
              <Menu.Item key={c.value} onClick={() => insert(c.value)}>
                {c.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <MultiSelect
        {...context}
        label="What the model sees"
        description="Earlier fields; those that the prompt names are added by themselves"
        data={[...choices, ...gone.map((n) => ({ value: n, label: `${n} (not before this)` }))]}
        value={[...new Set(value.context ?? [])]}
        onChange={(v) => set({ context: v.length > 0 ? v : undefined })}
        searchable
      />
      <Tools
        value={value.tools ?? []}
        onChange={(tools, tag) => set({ tools: tools.length > 0 ? tools : undefined }, tag)}
      />
    </Section>
  );
}

function Tools({ value, onChange }: { value: Tool[]; onChange: (v: Tool[], tag?: string) => void }) {
  const set = (at: number, change: Partial<Tool>, tag?: string) =>
    onChange(
      value.map((t, i) =>
        i === at
          ? (Object.fromEntries(
              Object.entries({ ...t, ...change }).filter(([, v]) => v !== undefined),
            ) as unknown as Tool)
          : t,
      ),
      tag,
    );
  return (
    <Section
      title="Tools"
      aside={
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...value, { name: '' }])}
        >
          Add a tool
        </Button>
      }
    >
      <PartBox part="tools">
        <Stack gap="xs">
          {value.map((t, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may stand twice while they are typed
            <PartOf key={i} name={`tools[${i}]`}>
              <Paper withBorder p="xs">
                <Stack gap={6}>
                  <TextPart
                    part="name"
                    label="Name"
                    mono
                    maxLength={64}
                    value={t.name}
                    onChange={(name) => set(i, { name: name ?? '' }, `tool ${i}`)}
                  />
                  <AreaPart
                    part="description"
                    label="Description"
                    value={t.description}
                    onChange={(description) => set(i, { description }, `tool about ${i}`)}
                  />
                  <JSONArea
                    part="parameters"
                    label="Parameters (JSON Schema)"
                    placeholder='{"type": "object", "properties": {}}'
                    value={t.parameters}
                    check={(v) =>
                      typeof v === 'object' && v !== null && !Array.isArray(v) ? null : 'A JSON Schema is an object'
                    }
                    onChange={(v) =>
                      set(i, { parameters: v as Record<string, unknown> | undefined }, `tool schema ${i}`)
                    }
                  />
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    leftSection={<IconTrash size={14} />}
                    onClick={() => onChange(value.filter((_, j) => j !== i))}
                    style={{ alignSelf: 'flex-start' }}
                  >
                    Remove the tool
                  </Button>
                </Stack>
              </Paper>
            </PartOf>
          ))}
        </Stack>
      </PartBox>
    </Section>
  );
}
