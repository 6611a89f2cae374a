import { Alert, type AlertProps } from '@mantine/core';

/** Something to know before going on. Its text has the page's own colour, which every scheme can read. */
export function Notice({ color = 'yellow', ...rest }: AlertProps) {
  return (
    <Alert
      variant="light"
      color={color}
      styles={{ title: { color: 'inherit' } }}
      c="var(--mantine-color-text)"
      {...rest}
    />
  );
}
