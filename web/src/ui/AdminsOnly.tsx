import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from './EmptyState';
import { Page } from './Page';

/** Instead of a page that the person's role does not have. */
export function AdminsOnly({ title, of }: { title: string; of: string }) {
  return (
    <Page title={title}>
      <EmptyState
        title="This is not for you"
        action={
          <Button component={Link} to="/">
            Go to the start
          </Button>
        }
      >
        Only admins of {of} see this page. If you need it, ask one of them to change your role.
      </EmptyState>
    </Page>
  );
}
