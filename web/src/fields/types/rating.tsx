import { Group, Rating, Slider, Stack, Text } from '@mantine/core';
import { scaleOf, stepLabel } from '../engine/kinds/rating';
import { fieldLabel } from '../engine/options';
import type { Scale } from '../engine/types';
import { numberText } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { ChoiceBar } from './ChoiceBar';
import { stepKeys, useFieldKeys } from './keys';

export function stepsOf(scale: Scale): number[] {
  const size = scale.half ? 0.5 : 1;
  return Array.from({ length: Math.max(0, (scale.max - scale.min) / size + 1) }, (_, i) => scale.min + i * size);
}

export function RatingInput(p: InputProps) {
  const scale = scaleOf(p.field);
  const steps = stepsOf(scale);
  const keys = stepKeys(steps.filter((n) => Number.isInteger(n)));
  const whole = steps.filter((n) => Number.isInteger(n));
  const value = typeof p.value === 'number' ? p.value : undefined;
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    whole.flatMap((n, i) => {
      const key = keys[i];
      return key ? [{ keys: key, label: name(scale, n), run: () => p.onChange(n) }] : [];
    }),
  );
  const stars = (p.field.style ?? 'stars') === 'stars' && scale.min >= 0 && scale.min <= 1 && scale.max <= 10;
  if (p.field.style === 'slider' || steps.length > 21) {
    return (
      <Slider
        min={scale.min}
        max={scale.max}
        step={scale.half ? 0.5 : 1}
        value={value ?? scale.min}
        onChange={p.onChange}
        disabled={p.disabled}
        thumbLabel={fieldLabel(p.field)}
        label={(n) => name(scale, n)}
        marks={[scale.min, scale.max].map((n) => ({ value: n, label: name(scale, n) }))}
        mb="lg"
      />
    );
  }
  if (stars) {
    return (
      <Group gap="sm">
        <Rating
          count={scale.max}
          fractions={scale.half ? 2 : 1}
          value={value ?? 0}
          onChange={(n) => p.onChange(n === 0 && scale.min > 0 ? undefined : n)}
          readOnly={p.disabled}
          size="lg"
          name={p.id}
          getSymbolLabel={(n) => `${fieldLabel(p.field)}: ${name(scale, n)}`}
        />
        <Text size="sm" c={value === undefined ? 'dimmed' : undefined}>
          {value === undefined ? `${name(scale, scale.min)} to ${name(scale, scale.max)}` : name(scale, value)}
          {p.field.unit && ` ${p.field.unit}`}
        </Text>
        {p.keys && keys.length > 0 && (
          <Text size="xs" c="dimmed">
            Keys {keys[0]} to {keys.at(-1)}
          </Text>
        )}
      </Group>
    );
  }
  return (
    <Stack gap={4}>
      <ChoiceBar
        name={p.id}
        labelledBy={p.label ? undefined : `${p.id}-label`}
        label={p.label}
        describedBy={p.describedBy}
        choices={steps.map((n) => ({
          value: numberText(n),
          label: scale.labels?.length === steps.length ? name(scale, n) : numberText(n),
          hint: name(scale, n),
          keys: p.keys ? keys[whole.indexOf(n)] : undefined,
        }))}
        value={value === undefined ? undefined : numberText(value)}
        onChange={(v) => p.onChange(Number(v))}
        disabled={p.disabled}
      />
      <Ends scale={scale} />
    </Stack>
  );
}

/** The labels of the two ends of a scale whose steps are numbers. */
export function Ends({ scale }: { scale: Scale }) {
  if (scale.labels?.length !== 2) return null;
  return (
    <Text size="xs" c="dimmed">
      {scale.min} = {scale.labels[0]}, {scale.max} = {scale.labels[1]}
    </Text>
  );
}

/** "4 (good)". */
function name(scale: Scale, n: number): string {
  const label = stepLabel(scale, n);
  return label ? `${numberText(n)} (${label})` : numberText(n);
}

export function RatingDisplay({ field, value }: DisplayProps) {
  const scale = scaleOf(field);
  if (typeof value !== 'number') return <Text>{String(value)}</Text>;
  return (
    <Text>
      {name(scale, value)} of {scale.max} {field.unit}
    </Text>
  );
}
