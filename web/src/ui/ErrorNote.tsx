import { Alert, Button, Code, CopyButton, Group, List, Stack, Text } from '@mantine/core';
import { asAPIError } from '@/api';

interface Props {
  error: unknown;
  /** Offers to try again. */
  retry?: () => void;
  /** What was being done, such as "save the draft". */
  doing?: string;
}

/** An error with what to do about it, and the request's id for those who look into the log. */
export function ErrorNote({ error, retry, doing }: Props) {
  const err = asAPIError(error);
  return (
    <Alert color="red" variant="light" role="alert" title={doing ? `Could not ${doing}` : titleOf(err.status)}>
      <Stack gap="xs">
        <Text size="sm">{err.message}</Text>
        {err.problems.length > 0 && (
          <List size="sm">
            {err.problems.map((p) => (
              <List.Item key={`${p.path}/${p.field}/${p.message}`}>
                {[p.node, p.field].filter(Boolean).join(' · ')} {p.message}
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="sm">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {err.requestId && (
            <CopyButton value={err.requestId}>
              {({ copied, copy }) => (
                <Text size="xs" c="dimmed">
                  Request <Code>{err.requestId}</Code>{' '}
                  <Button size="compact-xs" variant="subtle" onClick={copy}>
                    {copied ? 'Copied' : 'Copy'}
                  </Button>
                </Text>
              )}
            </CopyButton>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

function titleOf(status: number): string {
  if (status === 0) return 'No connection';
  if (status === 403) return 'This is not for you';
  if (status === 404) return 'There is nothing here';
  if (status === 409) return 'This is not possible now';
  if (status >= 500) return 'The server failed';
  return 'That did not work';
}
