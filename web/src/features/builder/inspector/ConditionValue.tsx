import { MultiSelect, NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { pickedFrom } from '@/pipeline/conditions';
import type { Condition, Field } from '@/pipeline/definition';
import { usePart } from '../state/context';
import { once } from './choices';
import { JSONArea } from './JSONArea';

interface Props {
  leaf: Condition;
  /** The field that it is about; undefined when there is none. */
  about: Field | undefined;
  onChange: (value: unknown) => void;
}

const numeric = ['number', 'integer', 'rating'];

/** What a field is compared with, in the control that suits both. */
export function ConditionValue({ leaf, about, onChange }: Props) {
  const at = usePart('value');
  const op = leaf.op;
  if (!op || op === 'empty' || op === 'not_empty') return null;
  const shared = { ...at, 'aria-label': 'Value' };
  const picked = about ? pickedFrom(about, op) : null;
  const many = op === 'in' || op === 'nin';
  if (picked) {
    const data = once(picked);
    if (!many) {
      const value = typeof leaf.value === 'string' ? leaf.value : null;
      const all =
        value && !data.some((o) => o.value === value) ? [...data, { value, label: `${value} (no option)` }] : data;
      return (
        <Select
          {...shared}
          data={all}
          value={value}
          onChange={onChange}
          allowDeselect={false}
          searchable={all.length > 8}
        />
      );
    }
    return (
      <MultiSelect {...shared} data={data} value={texts(leaf.value)} onChange={onChange} searchable={data.length > 8} />
    );
  }
  if (many) {
    const number = about && numeric.includes(about.type);
    return (
      <TagsInput
        {...shared}
        acceptValueOnBlur
        description="Press Enter after each"
        value={texts(leaf.value)}
        onChange={(v) =>
          onChange(number ? v.map((x) => (x.trim() !== '' && Number.isFinite(Number(x)) ? Number(x) : x)) : v)
        }
      />
    );
  }
  if (about?.type === 'boolean') {
    return (
      <Select
        {...shared}
        allowDeselect={false}
        data={[
          { value: 'true', label: 'yes' },
          { value: 'false', label: 'no' },
        ]}
        value={String(leaf.value)}
        onChange={(v) => onChange(v === 'true')}
      />
    );
  }
  if (about && numeric.includes(about.type)) {
    return (
      <NumberInput
        {...shared}
        hideControls
        value={typeof leaf.value === 'number' ? leaf.value : ''}
        onChange={(v) => onChange(v === '' ? '' : Number(v))}
      />
    );
  }
  if (about && (about.type === 'json' || Array.isArray(leaf.value)) && op !== 'contains' && op !== 'matches') {
    return <JSONArea label="Value as JSON" value={leaf.value} onChange={onChange} />;
  }
  return (
    <TextInput
      {...shared}
      type={about?.type === 'date' ? 'date' : 'text'}
      placeholder={
        op === 'matches'
          ? 'RE2 pattern for the whole text'
          : about?.type === 'datetime'
            ? '2026-01-31T09:00:00Z'
            : undefined
      }
      value={typeof leaf.value === 'string' ? leaf.value : JSON.stringify(leaf.value ?? '')}
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}

function texts(v: unknown): string[] {
  return Array.isArray(v) ? [...new Set(v.map(String))] : [];
}
