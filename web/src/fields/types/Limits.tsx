import { Group, Text } from '@mantine/core';
import { type Counts, count } from '../engine/count';
import type { Rules } from '../engine/types';

const units: [keyof Counts, keyof Rules, keyof Rules, string][] = [
  ['chars', 'min_chars', 'max_chars', 'characters'],
  ['words', 'min_words', 'max_words', 'words'],
  ['lines', 'min_lines', 'max_lines', 'lines'],
];

/** How much of each limit is used, while typing: "132 / 280 characters". Nothing is ever cut. */
export function Limits({ text, rules }: { text: string; rules: Rules | undefined }) {
  const bounded = units.filter(([, least, most]) => rules?.[least] !== undefined || rules?.[most] !== undefined);
  if (bounded.length === 0) return null;
  const counts = count(text);
  return (
    <Group gap="sm" justify="flex-end" mt={4}>
      {bounded.map(([unit, leastRule, mostRule, name]) => {
        const n = counts[unit];
        const [least, most] = [rules?.[leastRule] as number | undefined, rules?.[mostRule] as number | undefined];
        const over = most !== undefined && n > most;
        const short = least !== undefined && n < least && n > 0;
        return (
          <Text key={unit} size="xs" c={over ? 'red' : 'dimmed'} fw={over ? 700 : undefined}>
            {n}
            {most !== undefined && ` / ${most}`} {name}
            {over && `, ${n - most} too many`}
            {least !== undefined && (short || n === 0) && ` (at least ${least})`}
          </Text>
        );
      })}
    </Group>
  );
}
