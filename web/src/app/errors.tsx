import { Button, Container, Group } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';

export function NotFound() {
  return (
    <Container size="sm" py="xl">
      <Page title="There is nothing here">
        <p>The address is wrong, or what it named is gone or not yours to see.</p>
        <Button component={Link} to="/">
          Go to the start
        </Button>
      </Page>
    </Container>
  );
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <Page title="This page failed">
        <ErrorNote error={error} retry={reset} />
        <Group mt="md">
          <Button variant="default" onClick={() => window.location.reload()}>
            Load the app again
          </Button>
        </Group>
      </Page>
    </Container>
  );
}
