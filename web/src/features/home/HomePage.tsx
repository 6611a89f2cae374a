import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { Page } from '@/ui/Page';
import { Held } from './Held';
import classes from './home.module.css';
import { Overview } from './Overview';
import { Progress } from './Progress';
import { Queues } from './Queues';

/** What is waiting for the person, and for admins how things stand. */
export default function HomePage() {
  const b = useMe();
  if (b.projects.length === 0) return <Nothing />;
  return (
    <Page title="Home">
      <div className={classes.columns}>
        <div className={classes.main}>
          <Held />
          {b.isAdminSomewhere && <Overview />}
          <Queues />
        </div>
        <aside className={classes.side} aria-label="My progress">
          <Progress />
        </aside>
      </div>
    </Page>
  );
}

function Nothing() {
  const b = useMe();
  return (
    <Page title="Home">
      {b.isAdminSomewhere ? (
        <EmptyState
          title="Start with a project"
          action={
            <Button component={Link} to="/projects">
              Go to projects
            </Button>
          }
        >
          A project holds pipelines and the people who work in them. There is none yet.
        </EmptyState>
      ) : (
        <EmptyState title="You are in no project yet">
          An admin of {b.orgs.map((o) => o.name).join(', ') || 'your organization'} gives you a role in one; then your
          work shows up here by itself.
        </EmptyState>
      )}
    </Page>
  );
}
