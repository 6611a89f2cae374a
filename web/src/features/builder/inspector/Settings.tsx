import { Checkbox, Group, MultiSelect, Select, Stack, TagsInput } from '@mantine/core';
import { catalogue, proseTypes, rankableTypes, type Setting, scalarTypes } from '@/pipeline/catalogue';
import { pairChoices } from '@/pipeline/conditions';
import type { Column, Field, FieldType, Scale } from '@/pipeline/definition';
import { usePart } from '../state/context';
import { ColumnsEditor } from './ColumnsEditor';
import { fieldChoices } from './choices';
import { Section, TextPart } from './controls';
import { OptionsEditor } from './OptionsEditor';
import { ScaleEditor } from './ScaleEditor';

type Settable = Partial<Field> & { type: FieldType };

interface Props {
  field: Settable;
  settings: readonly Setting[];
  onChange: (change: Partial<Field>, tag?: string) => void;
  /** Fields that it may refer to. */
  known: readonly Field[];
}

/** The settings of a field's type, those of a column's alike. */
export function Settings({ field, settings, onChange, known }: Props) {
  const has = (s: Setting) => settings.includes(s);
  return (
    <Stack gap="md">
      {has('languages') && (
        <Tags
          part="languages"
          label="Languages"
          description="The first is the default"
          data={[
            'python',
            'javascript',
            'typescript',
            'json',
            'yaml',
            'sql',
            'go',
            'java',
            'c',
            'cpp',
            'rust',
            'shell',
            'html',
            'css',
          ]}
          value={field.languages}
          onChange={(languages) => onChange({ languages })}
        />
      )}
      {has('item_type') && (
        <Choice
          part="item_type"
          label="Items are"
          data={scalarTypes.map((t) => ({ value: t, label: catalogue[t].label }))}
          value={field.item_type ?? 'short_text'}
          onChange={(t) => onChange({ item_type: t === 'short_text' ? undefined : (t as FieldType) })}
        />
      )}
      {has('options') && (
        <OptionsEditor
          part="options"
          title="Options"
          noun="option"
          value={field.options ?? []}
          onChange={(options) => onChange({ options }, 'options')}
        />
      )}
      {has('allow_other') && (
        <Checkbox
          data-part="allow_other"
          label="Another text may be given"
          checked={field.allow_other ?? false}
          onChange={(e) => onChange({ allow_other: e.currentTarget.checked || undefined })}
        />
      )}
      {has('rows') && (
        <OptionsEditor
          part="rows"
          title="Statements"
          noun="row"
          value={field.rows ?? []}
          onChange={(rows) => onChange({ rows }, 'rows')}
        />
      )}
      {has('sources') && <Sources field={field} known={known} onChange={onChange} />}
      {has('choices') && <PairChoices value={field.choices} onChange={(choices) => onChange({ choices })} />}
      {has('scale') && (
        <ScaleEditor
          type={field.type}
          value={field.scale}
          onChange={(scale: Scale | undefined) => onChange({ scale }, 'scale')}
        />
      )}
      {has('items') && <Ranking field={field} known={known} onChange={onChange} />}
      {has('columns') && (
        <ColumnsEditor value={field.columns ?? []} onChange={(columns: Column[]) => onChange({ columns }, 'columns')} />
      )}
      {field.type === 'text_spans' && (
        <Choice
          part="source"
          label="Text to mark"
          placeholder="Choose an earlier text"
          data={fieldChoices(known.filter((f) => proseTypes.includes(f.type)))}
          value={field.source ?? null}
          onChange={(source) => onChange({ source: source ?? undefined })}
        />
      )}
      {has('labels') && (
        <OptionsEditor
          part="labels"
          title="Labels"
          noun="label"
          value={field.labels ?? []}
          onChange={(labels) => onChange({ labels }, 'labels')}
        />
      )}
      {has('allow_overlap') && (
        <Checkbox
          data-part="allow_overlap"
          label="Spans may overlap"
          checked={field.allow_overlap ?? false}
          onChange={(e) => onChange({ allow_overlap: e.currentTarget.checked || undefined })}
        />
      )}
      {has('accept') && (
        <Tags
          part="accept"
          label="Accepted files"
          description="Extensions such as .pdf, media types such as image/png or image/*; any when empty"
          data={['.pdf', '.docx', '.csv', '.json', '.txt', '.zip', 'image/*', 'audio/*', 'video/*', 'text/plain']}
          value={field.accept}
          onChange={(accept) => onChange({ accept })}
        />
      )}
      {has('multiple') && (
        <Checkbox
          data-part="multiple"
          label="Several files"
          checked={field.multiple ?? false}
          onChange={(e) => onChange({ multiple: e.currentTarget.checked || undefined })}
        />
      )}
      {has('schemes') && (
        <Group grow align="flex-start">
          <Tags
            part="schemes"
            label="Schemes"
            description="https and http when empty"
            data={['https', 'http', 'mailto']}
            value={field.schemes}
            onChange={(schemes) => onChange({ schemes })}
          />
          <Tags
            part="hosts"
            label="Hosts"
            description="*.example.com; any when empty"
            data={[]}
            value={field.hosts}
            onChange={(hosts) => onChange({ hosts })}
          />
        </Group>
      )}
      {has('unit') && (
        <TextPart
          part="unit"
          label="Unit"
          description="Shown after the value"
          maxLength={20}
          value={field.unit}
          onChange={(unit) => onChange({ unit }, 'unit')}
        />
      )}
      {has('placeholder') && (
        <TextPart
          part="placeholder"
          label="Placeholder"
          maxLength={500}
          value={field.placeholder}
          onChange={(placeholder) => onChange({ placeholder }, 'placeholder')}
        />
      )}
    </Stack>
  );
}

type TagsProps = {
  part: string;
  label: string;
  description?: string;
  data: string[];
  value: string[] | undefined;
  onChange: (v: string[] | undefined) => void;
};

function Tags({ part, value, onChange, ...rest }: TagsProps) {
  const at = usePart(part);
  return (
    <TagsInput
      {...rest}
      {...at}
      value={value ?? []}
      onChange={(v) => onChange(v.length > 0 ? v : undefined)}
      acceptValueOnBlur
    />
  );
}

type ChoiceProps = {
  part: string;
  label: string;
  placeholder?: string;
  description?: string;
  data: { value: string; label: string }[];
  value: string | null;
  onChange: (v: string | null) => void;
  clearable?: boolean;
};

/** One of a list; what is set and not in the list is still shown. */
export function Choice({ part, value, data, ...rest }: ChoiceProps) {
  const at = usePart(part);
  const all =
    value && !data.some((o) => o.value === value) ? [...data, { value, label: `${value} (not there)` }] : data;
  return (
    <Select
      {...rest}
      {...at}
      data={all}
      value={value}
      searchable={all.length > 8}
      allowDeselect={false}
      nothingFoundMessage="Nothing fits"
    />
  );
}

function Sources({
  field,
  known,
  onChange,
}: {
  field: Settable;
  known: readonly Field[];
  onChange: Props['onChange'];
}) {
  const data = fieldChoices(known.filter((f) => f.type !== 'static_content'));
  const [a, b] = [field.sources?.[0] ?? null, field.sources?.[1] ?? null];
  const set = (x: string | null, y: string | null) => onChange({ sources: x || y ? [x ?? '', y ?? ''] : undefined });
  return (
    <Section title="What is compared">
      <Group grow align="flex-start">
        <Choice
          part="sources[0]"
          label="A"
          placeholder="An earlier field"
          clearable
          data={data}
          value={a || null}
          onChange={(v) => set(v, b)}
        />
        <Choice
          part="sources[1]"
          label="B"
          placeholder="An earlier field"
          clearable
          data={data}
          value={b || null}
          onChange={(v) => set(a, v)}
        />
      </Group>
    </Section>
  );
}

const pairLabels: Record<string, string> = {
  a: 'A is better',
  b: 'B is better',
  tie: 'Equally good',
  both_bad: 'Both are bad',
};

function PairChoices({
  value,
  onChange,
}: {
  value: string[] | undefined;
  onChange: (v: string[] | undefined) => void;
}) {
  const at = usePart('choices');
  return (
    <MultiSelect
      {...at}
      label="Answers"
      data={pairChoices.map((c) => ({ value: c, label: pairLabels[c] ?? c }))}
      value={value ?? pairChoices}
      onChange={(v) => {
        const chosen = pairChoices.filter((c) => v.includes(c) || c === 'a' || c === 'b');
        onChange(chosen.length === pairChoices.length ? undefined : chosen);
      }}
    />
  );
}

function Ranking({
  field,
  known,
  onChange,
}: {
  field: Settable;
  known: readonly Field[];
  onChange: Props['onChange'];
}) {
  const lists = fieldChoices(known.filter((f) => rankableTypes.includes(f.type)));
  return (
    <>
      <Choice
        part="source"
        label="Items come from"
        data={[{ value: '', label: 'The list below' }, ...lists]}
        value={field.source ?? ''}
        onChange={(v) =>
          onChange(
            v
              ? { source: v, items: undefined }
              : { source: undefined, items: field.items ?? [{ value: 'item_1' }, { value: 'item_2' }] },
          )
        }
      />
      {!field.source && (
        <OptionsEditor
          part="items"
          title="Items"
          noun="item"
          value={field.items ?? []}
          onChange={(items) => onChange({ items }, 'items')}
        />
      )}
      <Checkbox
        data-part="allow_ties"
        label="Items may be equals"
        checked={field.allow_ties ?? false}
        onChange={(e) => onChange({ allow_ties: e.currentTarget.checked || undefined })}
      />
    </>
  );
}
