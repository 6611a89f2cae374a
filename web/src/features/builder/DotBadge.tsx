import { Badge, ColorSwatch, type MantineSize } from '@mantine/core';

/** A word with a coloured dot: the colour says no more than the word, which every scheme can read. */
export function DotBadge({ color, size = 'sm', children }: { color: string; size?: MantineSize; children: string }) {
  return (
    <Badge
      variant="default"
      tt="none"
      fw={600}
      size={size}
      style={{ flexShrink: 0 }}
      leftSection={<ColorSwatch color={`var(--mantine-color-${color}-filled)`} size={8} withShadow={false} />}
    >
      {children}
    </Badge>
  );
}
