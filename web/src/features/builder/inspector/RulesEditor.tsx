import { Checkbox, Group, MultiSelect, Stack, Text } from '@mantine/core';
import type { Rule } from '@/pipeline/catalogue';
import type { Field, Rules } from '@/pipeline/definition';
import { PartOf, usePart } from '../state/context';
import { fieldChoices, optionChoices } from './choices';
import { NumberPart, Section, TextPart } from './controls';
import { Choice } from './Settings';

interface Props {
  field: Pick<Field, 'type' | 'item_type' | 'options' | 'languages' | 'multiple'>;
  /** Those that the type knows. */
  rules: readonly Rule[];
  value: Rules | undefined;
  onChange: (value: Rules | undefined, tag?: string) => void;
  known: readonly Field[];
}

const counted: Record<string, string> = {
  multi_select: 'Choices',
  list: 'Items',
  table: 'Rows',
  chat: 'Messages',
  text_spans: 'Spans',
  file_upload: 'Files',
};

/** What an answer must keep to, as far as the type knows. Empty means no limit. */
export function RulesEditor({ field, rules, value, onChange, known }: Props) {
  const r = value ?? {};
  const set = (change: Partial<Rules>, tag?: string) => {
    const left = Object.entries({ ...r, ...change }).filter(([, v]) => v !== undefined && v !== false);
    onChange(left.length > 0 ? (Object.fromEntries(left) as Rules) : undefined, tag && `rule ${tag}`);
  };
  const has = (rule: Rule) => rules.includes(rule);
  if (rules.length === 0) return null;
  const pair = (unit: 'chars' | 'words' | 'lines' | 'items', label: string) => (
    <Pair label={label} least={`min_${unit}`} most={`max_${unit}`} rules={r} onChange={(change) => set(change, unit)} />
  );
  const files = field.type === 'file_upload' && !field.multiple;
  return (
    <PartOf name="rules">
      <Section title="Rules">
        <Stack gap="xs">
          {has('min_chars') && pair('chars', 'Characters')}
          {has('min_words') && pair('words', 'Words')}
          {has('min_lines') && pair('lines', 'Lines')}
          {has('min_items') && !files && pair('items', counted[field.type] ?? 'Items')}
          {has('min') && <Bounds field={field} rules={r} onChange={(change) => set(change, 'bounds')} />}
          {(has('step') || has('decimals')) && (
            <Group grow align="flex-start">
              {has('step') && (
                <NumberPart part="step" label="In steps of" value={r.step} onChange={(step) => set({ step }, 'step')} />
              )}
              {has('decimals') && (
                <NumberPart
                  part="decimals"
                  label="Digits after the point"
                  min={0}
                  max={10}
                  allowDecimal={false}
                  value={r.decimals}
                  onChange={(decimals) => set({ decimals }, 'decimals')}
                />
              )}
            </Group>
          )}
          {has('pattern') && (
            <>
              <TextPart
                part="pattern"
                label="Pattern"
                description="RE2, for the whole text"
                mono
                value={r.pattern}
                onChange={(pattern) => set({ pattern, ...(!pattern && { pattern_message: undefined }) }, 'pattern')}
              />
              {(r.pattern || r.pattern_message) && (
                <TextPart
                  part="pattern_message"
                  label="What the pattern asks for"
                  maxLength={500}
                  value={r.pattern_message}
                  onChange={(m) => set({ pattern_message: m }, 'pattern_message')}
                />
              )}
            </>
          )}
          {has('parse') && field.languages?.length === 1 && field.languages[0] === 'json' && (
            <Tick part="parse" label="Must parse as JSON" value={r.parse} onChange={(parse) => set({ parse })} />
          )}
          {has('unique') && field.type === 'list' && (
            <Tick part="unique" label="No item twice" value={r.unique} onChange={(unique) => set({ unique })} />
          )}
          {has('exclusive') && (
            <Exclusive field={field} value={r.exclusive} onChange={(exclusive) => set({ exclusive })} />
          )}
          {has('must_be_true') && (
            <Tick
              part="must_be_true"
              label="Must be yes, as for a consent"
              value={r.must_be_true}
              onChange={(v) => set({ must_be_true: v })}
            />
          )}
          {has('last_role') && (
            <Choice
              part="last_role"
              label="The last message is from"
              data={['', 'system', 'user', 'assistant', 'tool'].map((v) => ({ value: v, label: v || 'anyone' }))}
              value={r.last_role ?? ''}
              onChange={(v) => set({ last_role: v || undefined })}
            />
          )}
          {has('max_bytes') && (
            <NumberPart
              part="max_bytes"
              label={field.type === 'json' ? 'Largest size, bytes' : 'Largest file, bytes'}
              thousandSeparator=" "
              min={1}
              allowDecimal={false}
              value={r.max_bytes}
              onChange={(v) => set({ max_bytes: v }, 'max_bytes')}
            />
          )}
          {has('played_fully') && (
            <Tick
              part="played_fully"
              label={field.type === 'pdf' ? 'Must be read to its end' : 'Must be played to its end'}
              value={r.played_fully}
              onChange={(v) => set({ played_fully: v })}
            />
          )}
          {has('equals_field') && (known.length > 0 || r.equals_field) && (
            <Choice
              part="equals_field"
              label="Must equal"
              data={[{ value: '', label: 'Nothing in particular' }, ...fieldChoices(known)]}
              value={r.equals_field ?? ''}
              onChange={(v) => set({ equals_field: v || undefined })}
            />
          )}
        </Stack>
      </Section>
    </PartOf>
  );
}

type PairRule = `${'min' | 'max'}_${'chars' | 'words' | 'lines' | 'items'}`;

function Pair({ label, least, most, rules, onChange }: PairProps) {
  const own = { min: 0, allowDecimal: false, style: { flex: 1 } };
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" role="group" aria-label={label}>
      <Text size="sm" w={92} mt={7}>
        {label}
      </Text>
      <NumberPart
        part={least}
        aria-label={`At least, ${label}`}
        placeholder="at least"
        {...own}
        value={rules[least]}
        onChange={(v) => onChange({ [least]: v })}
      />
      <NumberPart
        part={most}
        aria-label={`At most, ${label}`}
        placeholder="at most"
        {...own}
        value={rules[most]}
        onChange={(v) => onChange({ [most]: v })}
      />
    </Group>
  );
}

interface PairProps {
  label: string;
  least: PairRule;
  most: PairRule;
  rules: Rules;
  onChange: (change: Partial<Rules>) => void;
}

/** Smallest and largest: a number, a day or a moment. */
function Bounds({
  field,
  rules,
  onChange,
}: {
  field: Props['field'];
  rules: Rules;
  onChange: (change: Partial<Rules>) => void;
}) {
  const type = field.type === 'list' ? (field.item_type ?? 'short_text') : field.type;
  if (type === 'date' || type === 'datetime') {
    const shared = {
      type: type === 'date' ? 'date' : 'text',
      placeholder: type === 'date' ? undefined : '2026-01-31T09:00:00Z',
    };
    return (
      <Group grow align="flex-start">
        <TextPart
          part="min"
          label="Earliest"
          {...shared}
          value={text(rules.min)}
          onChange={(min) => onChange({ min })}
        />
        <TextPart part="max" label="Latest" {...shared} value={text(rules.max)} onChange={(max) => onChange({ max })} />
      </Group>
    );
  }
  // A rating has its range in its scale.
  if (type === 'rating' && rules.min === undefined && rules.max === undefined) return null;
  const whole = type === 'number' ? undefined : false;
  return (
    <Group grow align="flex-start">
      <NumberPart
        part="min"
        label="Smallest"
        allowDecimal={whole}
        value={number(rules.min)}
        onChange={(min) => onChange({ min })}
      />
      <NumberPart
        part="max"
        label="Largest"
        allowDecimal={whole}
        value={number(rules.max)}
        onChange={(max) => onChange({ max })}
      />
    </Group>
  );
}

function Tick({
  part,
  label,
  value,
  onChange,
}: {
  part: string;
  label: string;
  value: boolean | undefined;
  onChange: (v: boolean | undefined) => void;
}) {
  const at = usePart(part);
  return (
    <Checkbox
      {...at}
      label={label}
      checked={value ?? false}
      onChange={(e) => onChange(e.currentTarget.checked || undefined)}
    />
  );
}

function Exclusive({
  field,
  value,
  onChange,
}: {
  field: Props['field'];
  value: string[] | undefined;
  onChange: (v: string[] | undefined) => void;
}) {
  const at = usePart('exclusive');
  return (
    <MultiSelect
      {...at}
      label="Options that stand alone"
      description="Such as “none of these”"
      data={optionChoices(field.options)}
      value={value ?? []}
      onChange={(v) => onChange(v.length > 0 ? v : undefined)}
    />
  );
}

function text(v: number | string | undefined): string | undefined {
  return v === undefined ? undefined : String(v);
}

function number(v: number | string | undefined): number | undefined {
  return v === undefined || Number.isNaN(Number(v)) ? undefined : Number(v);
}
