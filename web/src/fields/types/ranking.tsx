import { List } from '@mantine/core';
import { optionLabel } from '../engine/options';
import { itemsOf } from '../engine/value';
import type { DisplayProps } from '../props';

export function RankingDisplay({ field, value }: DisplayProps) {
  const label = (id: unknown) => {
    const item = field.items?.find((o) => o.value === id);
    return item ? optionLabel(item) : String(id);
  };
  return (
    <List type="ordered">
      {itemsOf(value).map((entry) => (
        <List.Item key={JSON.stringify(entry)}>
          {Array.isArray(entry) ? entry.map(label).join(' = ') : label(entry)}
        </List.Item>
      ))}
    </List>
  );
}
