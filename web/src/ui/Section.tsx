import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Section.module.css';

interface Props {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page with a heading of its own. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <section className={classes.section} aria-label={title}>
      <div className={classes.head}>
        <div>
          <Title order={2} size="h3">
            {title}
          </Title>
          {lead && <div className={classes.lead}>{lead}</div>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}
