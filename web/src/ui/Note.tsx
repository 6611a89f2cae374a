import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  color: 'blue' | 'orange' | 'yellow' | 'red' | 'teal';
  icon?: ReactNode;
  title?: ReactNode;
  /** alert is read out at once, status when there is a pause. */
  role?: 'alert' | 'status' | 'note';
  children?: ReactNode;
}

/** Something to know, set off from the page. Its words have the colour of text: light orange on white is hard to read. */
export function Note({ color, icon, title, role = 'note', children }: Props) {
  return (
    <Alert
      variant="light"
      color={color}
      icon={icon}
      title={title}
      role={role}
      styles={{ title: { color: 'var(--mantine-color-text)' }, message: { color: 'var(--mantine-color-text)' } }}
    >
      {children}
    </Alert>
  );
}
