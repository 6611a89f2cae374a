import { Button, Loader, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { asAPIError, body, type Invitation, lookupInvite } from '@/api';
import { roleLabel } from '@/features/people/roles';
import { day } from '@/lib/time';
import { ErrorNote } from '@/ui/ErrorNote';
import { AcceptForm } from './AcceptForm';
import { Door } from './Door';

/** What an invite's link opens. Its token is in the fragment, which no server and no log ever sees. */
export default function InvitePage() {
  const token = useLocation({ select: (l) => l.hash }).replace(/^#/, '');
  const invite = useQuery({
    queryKey: ['lookupInvite', token],
    queryFn: () => body(lookupInvite({ body: { token } })),
    enabled: token !== '',
    retry: (failures, err) => asAPIError(err).offline && failures < 3,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (token === '' || invite.error) return <Over error={invite.error} />;
  if (!invite.data) {
    return (
      <Door title="Invite">
        <Loader size="sm" aria-label="Looking at the invite" />
      </Door>
    );
  }
  return (
    <Door title={`Join ${invite.data.organization}`} lead={<Brings invite={invite.data} />}>
      <AcceptForm token={token} invite={invite.data} />
    </Door>
  );
}

function Brings({ invite }: { invite: Invitation }) {
  const roles = invite.projects.map((p) => `${roleLabel(p.role).toLowerCase()} in ${p.name}`);
  if (invite.role === 'org_admin') roles.unshift('org admin');
  return (
    <>
      {invite.invited_by} invites {invite.email}
      {roles.length > 0 ? ` as ${list(roles)}` : ''}. The link works until {day(invite.expires_at)}.
    </>
  );
}

function list(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

function Over({ error }: { error: unknown }) {
  const err = error ? asAPIError(error) : null;
  const known = !err || err.status === 404 || err.status === 409 || err.status === 422;
  return (
    <Door title="This invite does not work">
      {known ? (
        <Text size="sm">
          {err?.status === 409 ? err.message : 'The link is incomplete, or there is no such invite.'} Ask the person who
          sent it for a new one.
        </Text>
      ) : (
        <ErrorNote error={error} doing="look at the invite" retry={() => window.location.reload()} />
      )}
      <Button component={Link} to="/login" variant="default">
        Go to the login
      </Button>
    </Door>
  );
}
