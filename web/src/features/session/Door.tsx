import { Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Logo } from '@/ui/Logo';
import classes from './Door.module.css';

/** A page for those who are not inside yet: login, invite. */
export function Door({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Taskloom`;
  }, [title]);
  return (
    <main className={classes.door}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <Logo size={30} />
          <span>Taskloom</span>
        </div>
        <Title order={1} size="h3">
          {title}
        </Title>
        {lead && <div className={classes.lead}>{lead}</div>}
        {children}
      </div>
    </main>
  );
}
