import { Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { remember } from '@/lib/recent';
import classes from './Page.module.css';

interface Props {
  title: string;
  /** Beside the title: a status, a count. */
  aside?: ReactNode;
  /** Under the title: one line on what this is. */
  lead?: ReactNode;
  actions?: ReactNode;
  /** Widest width in pixels: for text and forms, which long lines make hard to read. */
  width?: number;
  children: ReactNode;
}

/** A page: its heading, which is also the tab's, its actions and what it shows. */
export function Page({ title, aside, lead, actions, width, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Taskloom`;
    remember(title);
  }, [title]);
  return (
    <div className={classes.page} style={width ? { maxWidth: width } : undefined}>
      <header className={classes.head}>
        <div className={classes.title}>
          <Title order={1} size="h2">
            {title}
          </Title>
          {aside}
          {lead && <div className={classes.lead}>{lead}</div>}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      <div>{children}</div>
    </div>
  );
}
