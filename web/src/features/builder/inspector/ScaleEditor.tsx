import { Checkbox, Group, NumberInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { defaults, type FieldType, type Scale } from '@/pipeline/definition';
import { usePart } from '../state/context';
import { PartBox, Section } from './controls';

interface Props {
  type: FieldType;
  value: Scale | undefined;
  onChange: (value: Scale | undefined) => void;
}

/** From where to where, and what the steps are called: none, the two ends, or all. */
export function ScaleEditor({ type, value, onChange }: Props) {
  const labels = usePart('scale.labels', true);
  const s = value ?? { ...defaults.scale };
  const steps = Math.max(0, Math.min(s.max - s.min + 1, 111));
  const named = s.labels?.length ?? 0;
  const mode = named === 0 ? 'none' : named === 2 && steps !== 2 ? 'ends' : named === steps ? 'all' : 'ends';
  const set = (change: Partial<Scale>) => onChange({ ...s, ...change });
  const setMode = (m: string) => {
    const old = s.labels ?? [];
    if (m === 'none') {
      const { labels: _labels, ...rest } = s;
      onChange(rest);
    } else
      set({
        labels: m === 'ends' ? [old[0] ?? '', old.at(-1) ?? ''] : Array.from({ length: steps }, (_, i) => old[i] ?? ''),
      });
  };
  const strength = type === 'pairwise';
  if (strength && !value) {
    return (
      <Checkbox
        data-part="scale"
        label="Also ask how much better"
        checked={false}
        onChange={() => onChange({ min: 1, max: 3 })}
      />
    );
  }
  return (
    <Section title={strength ? 'How much better' : 'Scale'}>
      <PartBox part="scale">
        <Stack gap="xs">
          {strength && <Checkbox label="Also ask how much better" checked onChange={() => onChange(undefined)} />}
          <Group grow>
            <NumberInput
              label="From"
              min={-10}
              max={100}
              allowDecimal={false}
              value={s.min}
              onChange={(v) => v !== '' && set({ min: Number(v), labels: undefined })}
            />
            <NumberInput
              label="To"
              min={-10}
              max={100}
              allowDecimal={false}
              value={s.max}
              onChange={(v) => v !== '' && set({ max: Number(v), labels: undefined })}
            />
          </Group>
          {type === 'rating' && (
            <Checkbox
              label="Half steps"
              checked={s.half ?? false}
              onChange={(e) => set({ half: e.currentTarget.checked || undefined })}
            />
          )}
          {type === 'likert' && (
            <Checkbox
              label="“Does not apply” may be answered"
              checked={s.allow_na ?? false}
              onChange={(e) => set({ allow_na: e.currentTarget.checked || undefined })}
            />
          )}
          <SegmentedControl
            size="xs"
            aria-label="Names of the steps"
            value={mode}
            onChange={setMode}
            data={[
              { value: 'none', label: 'No names' },
              { value: 'ends', label: 'Name the ends' },
              ...(steps <= 11 ? [{ value: 'all', label: 'Name every step' }] : []),
            ]}
          />
          {mode !== 'none' && (
            <Stack gap={4} data-part={labels['data-part']} tabIndex={-1}>
              {(s.labels ?? []).map((l, i) => {
                const step = mode === 'ends' ? (i === 0 ? s.min : s.max) : s.min + i;
                return (
                  <TextInput
                    key={step}
                    size="xs"
                    aria-label={`Name of step ${step}`}
                    leftSection={step}
                    value={l}
                    error={i === 0 ? labels.error : undefined}
                    onChange={(e) => {
                      const text = e.currentTarget.value;
                      set({ labels: (s.labels ?? []).map((x, j) => (j === i ? text : x)) });
                    }}
                  />
                );
              })}
            </Stack>
          )}
        </Stack>
      </PartBox>
    </Section>
  );
}
