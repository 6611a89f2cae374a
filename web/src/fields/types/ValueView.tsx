import type { File } from '@/api';
import type { Field, Values } from '../engine/types';
import { isObject } from '../engine/value';
import { useFormAround } from '../FormContext';
import { FieldDisplay } from '../registry';

interface Props {
  name: string;
  context: Values;
  files?: readonly File[];
}

/** The value of another field, shown as that one shows it; of an earlier step's field by its looks. */
export function ValueView({ name, context, files }: Props) {
  const { field: fieldOf, onPlayed, played } = useFormAround();
  const value = context[name];
  const field = fieldOf(name) ?? { name, type: guess(value), input: 'seeded' as const };
  return (
    <FieldDisplay
      field={field}
      value={value}
      context={context}
      files={files}
      onPlayed={onPlayed && (() => onPlayed(name))}
      played={played?.has(name)}
    />
  );
}

/** The type whose display fits a value of an unknown field. */
function guess(value: unknown): Field['type'] {
  if (typeof value === 'string') return 'long_text';
  if (Array.isArray(value) && value.length > 0 && value.every((m) => isObject(m) && 'role' in m)) return 'chat';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'number';
  return 'json';
}
