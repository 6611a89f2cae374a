import { Anchor, Modal, Stack, Text } from '@mantine/core';
import { queryClient } from '@/app/query';
import { LoginForm } from './LoginForm';
import { session, useSession } from './session';
import { loginPath } from './target';

/**
 * The login over the page whose session is over. Nothing under it unmounts;
 * the requests that wait for it are sent afterwards.
 */
export default function LostSession() {
  const { user } = useSession();
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="You were logged out"
      size="sm"
      zIndex={10_000}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          The session ended. Log in again to go on where you are: what you typed is still here.
        </Text>
        <LoginForm email={user?.email} done={() => void queryClient.invalidateQueries()} />
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="center"
          onClick={() => session.abandon(loginPath(window.location))}
        >
          Leave this page
        </Anchor>
      </Stack>
    </Modal>
  );
}
