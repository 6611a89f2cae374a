import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

interface Props {
  title: string;
  /** Why it is empty, in words and numbers. */
  children?: ReactNode;
  /** The one thing to do about it. */
  action?: ReactNode;
}

export function EmptyState({ title, children, action }: Props) {
  return (
    <div className={classes.box}>
      <Title order={2} size="h3">
        {title}
      </Title>
      {children && (
        <Text c="dimmed" component="div" size="sm" maw={540}>
          {children}
        </Text>
      )}
      {action}
    </div>
  );
}
