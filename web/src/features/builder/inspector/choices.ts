import { type Field, labelOf, type Option } from '@/pipeline/definition';

/** Fields to choose from, by title; a name that stands twice is offered once. */
export function fieldChoices(fields: readonly Field[]): { value: string; label: string }[] {
  return once(fields.map((f) => ({ value: f.name, label: f.title ? `${f.title} (${f.name})` : labelOf(f) })));
}

/** Options to choose from, without those that have no value yet. */
export function optionChoices(options: readonly Option[] | undefined): { value: string; label: string }[] {
  return once((options ?? []).map((o) => ({ value: o.value, label: o.label || o.value })));
}

/** Selects cannot show two of the same value. */
export function once<T extends { value: string }>(list: readonly T[]): T[] {
  const seen = new Set<string>();
  return list.filter((o) => o.value !== '' && !seen.has(o.value) && seen.add(o.value));
}
