import { Group, Text, TextInput } from '@mantine/core';
import { usePrefs } from '@/lib/prefs';
import { parseDatetime } from '../engine/moment';
import type { DisplayProps, InputProps } from '../props';
import { asText, controlProps } from './text';

// Without a bound browsers take years of six digits, which are no dates here.
const lastDay = '9999-12-31';
const lastSecond = `${lastDay}T23:59:59`;

export function DateInput(p: InputProps) {
  const rules = p.field.rules ?? {};
  return (
    <TextInput
      {...controlProps(p)}
      onChange={(e) => p.onChange(e.currentTarget.value || undefined)}
      type="date"
      min={asText(rules.min) || undefined}
      max={asText(rules.max) || lastDay}
      maw={220}
    />
  );
}

const two = (n: number) => String(n).padStart(2, '0');

/** What a datetime-local control holds of an instant, in the reader's zone or in UTC. */
export function toLocal(iso: unknown, utc: boolean): string {
  const moment = typeof iso === 'string' ? parseDatetime(iso) : undefined;
  if (!moment) return '';
  const d = new Date(moment.seconds * 1000);
  if (utc) return d.toISOString().slice(0, 19);
  const date = `${String(d.getFullYear()).padStart(4, '0')}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${date}T${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** The instant of a datetime-local control, in UTC to the second; undefined when it is incomplete or too far away. */
export function fromLocal(text: string, utc: boolean): string | undefined {
  const at = text && new Date(utc ? `${text}Z` : text);
  if (!at || Number.isNaN(at.getTime())) return undefined;
  const iso = at.toISOString().replace(/\.\d+Z$/, 'Z');
  return parseDatetime(iso) && iso;
}

export function DatetimeInput(p: InputProps) {
  const utc = usePrefs().zone === 'utc';
  const zone = utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const rules = p.field.rules ?? {};
  const change = (text: string) => {
    const moment = fromLocal(text, utc);
    // What cannot be read is not an answer taken back: the control goes on with the one before.
    if (moment !== undefined || text === '') p.onChange(moment);
  };
  return (
    <Group gap="sm">
      <TextInput
        {...controlProps(p)}
        type="datetime-local"
        step={1}
        value={toLocal(p.value, utc)}
        onChange={(e) => change(e.currentTarget.value)}
        min={toLocal(rules.min, utc) || undefined}
        max={toLocal(rules.max, utc) || lastSecond}
        w={250}
      />
      <Text size="sm" c="dimmed">
        {zone}
      </Text>
    </Group>
  );
}

export function DateDisplay({ value }: DisplayProps) {
  return <Text>{asText(value)}</Text>;
}

export function DatetimeDisplay({ value }: DisplayProps) {
  const utc = usePrefs().zone === 'utc';
  const local = toLocal(value, utc);
  if (!local) return <Text>{asText(value)}</Text>;
  return (
    <Text title={asText(value)}>
      {local.replace('T', ' ')} {utc && 'UTC'}
    </Text>
  );
}
