import { Text } from '@mantine/core';
import type { Field } from '../engine/types';

const words: Record<string, string> = {
  contributor: 'Not answered',
  seeded: 'Nothing was given',
  static: 'Nothing is set',
  llm: 'Nothing was generated yet',
};

/** Stands where a value would. */
export function Unanswered({ field }: { field: Field }) {
  return (
    <Text c="dimmed" fs="italic" size="sm">
      {words[field.input] ?? 'Nothing'}
    </Text>
  );
}
