import { ActionIcon, Alert, Button, Checkbox, Group, Select, Slider, Stack, Text, Tooltip } from '@mantine/core';
import { IconArrowLeft, IconCopy, IconTrash } from '@tabler/icons-react';
import {
  catalogue,
  groups,
  inputLabels,
  rulesOf,
  settingsOf,
  styleLabels,
  withInput,
  withType,
} from '@/pipeline/catalogue';
import { carried } from '@/pipeline/clipboard';
import {
  type Field,
  type FieldType,
  fieldTypes,
  type Input,
  inputs,
  labelOf,
  limits,
  namePattern,
  type PipelineNode,
} from '@/pipeline/definition';
import { insertField, removeField, renameField, replaceField, setField } from '@/pipeline/edit';
import { knownToField } from '@/pipeline/graph';
import { fieldNames, slug, unique } from '@/pipeline/names';
import { PartOf, useBuilder, usePart } from '../state/context';
import { ConditionEditor } from './ConditionEditor';
import { CriteriaEditor } from './CriteriaEditor';
import { AreaPart, CommitPart, Section, TextPart } from './controls';
import { GridPreview } from './GridPreview';
import { LlmEditor } from './LlmEditor';
import { RulesEditor } from './RulesEditor';
import { Choice, Settings } from './Settings';
import { ValueEditor } from './ValueEditor';

/** Names that the builder made up: they follow the title until a person gives another, or the field is published. */
const madeUp = /^(field|answer)(_\d+)?$/;

/** One field with all that its type knows. */
export function FieldPanel({ node, index }: { node: PipelineNode; index: number }) {
  const { doc, edit, dispatch, published } = useBuilder();
  const field = node.fields?.[index];
  if (!field) return null;
  const d = doc.definition;
  const id = `${node.key} ${index}`;
  const set = (change: Partial<Field>, tag?: string) =>
    edit((x) => setField(x, node.key, index, change), tag && `${tag} ${id}`);
  const replace = (next: Field) => edit((x) => replaceField(x, node.key, index, next));
  const known = knownToField(d, node.key, index).map((p) => p.field);
  const others = fieldNames(d).filter((name, i, all) => name !== field.name || all.indexOf(name) !== i);
  const fixed = published.get(field.name);
  const info = catalogue[field.type];
  const back = () => dispatch({ type: 'select', selection: { nodes: [node.key] } });
  const duplicate = () => {
    const copy = carried(field, new Map([[field.name, unique(field.name, fieldNames(d))]]));
    edit((x) => insertField(x, node.key, index + 1, copy), undefined, { nodes: [node.key], field: index + 1 });
  };
  return (
    <Stack gap="lg">
      <Group justify="space-between" wrap="nowrap">
        <Button variant="subtle" size="compact-sm" leftSection={<IconArrowLeft size={16} />} onClick={back}>
          {labelOf(node)}
        </Button>
        <Group gap={4} wrap="nowrap">
          <Tooltip label="Duplicate the field">
            <ActionIcon variant="subtle" color="gray" aria-label="Duplicate the field" onClick={duplicate}>
              <IconCopy size={16} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Delete the field">
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label="Delete the field"
              onClick={() =>
                edit((x) => removeField(x, node.key, index), undefined, { nodes: [node.key], field: null })
              }
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <Stack gap="xs">
        <TextPart
          part="title"
          label="Title"
          maxLength={limits.title}
          value={field.title}
          onChange={(title) => set({ title }, 'title')}
          onBlur={() => {
            dispatch({ type: 'pause' });
            if (!field.title || fixed || !madeUp.test(field.name)) return;
            const name = unique(slug(field.title, field.name), others);
            if (name !== field.name) edit((x) => renameField(x, node.key, index, name));
          }}
        />
        <CommitPart
          part="name"
          label="Name"
          description={
            fixed ? 'Published: values of all versions stand under it' : 'In the API, in imports and in results'
          }
          mono
          maxLength={63}
          readOnly={fixed !== undefined}
          value={field.name}
          onChange={(name) => name && edit((x) => renameField(x, node.key, index, name))}
          check={(name) => {
            if (!namePattern.test(name)) return 'A lower-case letter, then lower-case letters, digits and _';
            return others.includes(name) ? 'Another field of the pipeline has this name' : null;
          }}
        />
        <TypeAndInput field={field} fixed={fixed} onChange={replace} />
        {field.input !== 'static' && (
          <Checkbox
            data-part="required"
            label="Required"
            description={field.visible_when ? 'While it is visible' : undefined}
            checked={field.required ?? false}
            onChange={(e) => set({ required: e.currentTarget.checked || undefined })}
          />
        )}
        <AreaPart
          part="description"
          label="Description"
          maxLength={5000}
          value={field.description}
          onChange={(v) => set({ description: v }, 'description')}
        />
        {info.styles.length > 0 && (
          <Choice
            part="style"
            label="Look"
            data={info.styles.map((s) => ({ value: s, label: styleLabels[s] ?? s }))}
            value={field.style ?? info.styles[0] ?? null}
            onChange={(style) => set({ style: style === info.styles[0] ? undefined : (style ?? undefined) })}
          />
        )}
        <Width
          node={node}
          index={index}
          value={field.width ?? 12}
          onChange={(width) => set({ width: width === 12 ? undefined : width }, 'width')}
        />
      </Stack>
      <Settings field={field} settings={settingsOf(field)} known={known} onChange={set} />
      {(field.input === 'static' ||
        (field.input === 'contributor' && field.type !== 'file_upload' && field.type !== 'text_spans')) && (
        <ValueEditor key={`${field.name} ${field.type}`} field={field} onChange={(value, tag) => set({ value }, tag)} />
      )}
      {field.input === 'llm' && field.llm && (
        <LlmPart field={field} known={known} onChange={(llm, tag) => set({ llm }, tag)} />
      )}
      <RulesEditor
        field={field}
        rules={rulesOf(field)}
        known={known}
        value={field.rules}
        onChange={(rules, tag) => set({ rules }, tag)}
      />
      <Section title="Visibility">
        <ConditionEditor
          part="visible_when"
          value={field.visible_when}
          known={known}
          onChange={(visible_when, tag) => set({ visible_when }, tag)}
          start="Show only when…"
          none="Always shown: there is no earlier field that it could depend on."
        />
      </Section>
      <CriteriaEditor value={field.criteria ?? []} onChange={(criteria, tag) => set({ criteria }, tag)} />
    </Stack>
  );
}

function TypeAndInput({
  field,
  fixed,
  onChange,
}: {
  field: Field;
  fixed: string | undefined;
  onChange: (f: Field) => void;
}) {
  const type = usePart('type');
  const input = usePart('input');
  const info = catalogue[field.type];
  return (
    <>
      <Select
        {...type}
        label="Type"
        searchable
        allowDeselect={false}
        readOnly={fixed === field.type}
        description={fixed === field.type ? 'Published: a field of another type takes another name' : undefined}
        data={groups.map((group) => ({
          group,
          items: fieldTypes
            .filter((t) => catalogue[t].group === group)
            .map((t) => ({ value: t, label: catalogue[t].label })),
        }))}
        value={field.type}
        onChange={(t) => t && onChange(withType(field, t as FieldType))}
      />
      {fixed !== undefined && fixed !== field.type && (
        <Alert color="red" variant="light">
          This name was published as {fixed.replaceAll('_', ' ')} and stays that.{' '}
          <Button size="compact-xs" variant="default" onClick={() => onChange(withType(field, fixed as FieldType))}>
            Change the type back
          </Button>
        </Alert>
      )}
      <Select
        {...input}
        label="Where its value comes from"
        allowDeselect={false}
        data={inputs
          .filter((i) => info?.inputs.includes(i) || i === field.input)
          .map((i) => ({ value: i, label: inputLabels[i] }))}
        value={field.input}
        onChange={(i) => i && onChange(withInput(field, i as Input))}
      />
    </>
  );
}

function Width({
  node,
  index,
  value,
  onChange,
}: {
  node: PipelineNode;
  index: number;
  value: number;
  onChange: (v: number) => void;
}) {
  const { 'data-part': part } = usePart('width');
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        Width: {value} of 12 columns
      </Text>
      <Slider
        thumbProps={{ 'data-part': part } as object}
        thumbLabel="Width in columns of 12"
        min={1}
        max={12}
        label={null}
        marks={[{ value: 3 }, { value: 4 }, { value: 6 }, { value: 8 }, { value: 12 }]}
        value={value}
        onChange={onChange}
      />
      <GridPreview fields={node.fields ?? []} current={index} />
    </Stack>
  );
}

function LlmPart({
  field,
  known,
  onChange,
}: {
  field: Field;
  known: readonly Field[];
  onChange: (llm: Field['llm'], tag?: string) => void;
}) {
  return (
    <PartOf name="llm">
      <LlmEditor value={field.llm ?? { model: '', prompt: '' }} known={known} onChange={onChange} />
    </PartOf>
  );
}
