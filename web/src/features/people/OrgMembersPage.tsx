import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '@/features/session/me';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { InviteButton } from './InviteButton';
import { InviteDialog } from './InviteDialog';
import { Invites } from './Invites';
import { OrgMembers } from './OrgMembers';
import { orgMembersQuery } from './queries';

/** Who belongs to the organization, and who is invited. */
export default function OrgMembersPage() {
  const { orgId } = useParams({ from: '/shell/orgs/$orgId/members' });
  const b = useMe();
  if (!b.isOrgAdmin(orgId)) return <AdminsOnly title="Members" of="the organization" />;
  return <Members orgId={Number(orgId)} />;
}

function Members({ orgId }: { orgId: number }) {
  const b = useMe();
  const members = useQuery(orgMembersQuery(orgId));
  const [inviting, setInviting] = useState(false);
  const where = { orgId };
  return (
    <Page
      title={`Members of ${b.org(orgId)?.name ?? 'the organization'}`}
      lead="Org admins are admins of every project. Members see the projects that they have a role in."
      actions={<InviteButton invite={() => setInviting(true)} />}
    >
      {members.isPending && <RowsSkeleton />}
      {members.error && !members.data && (
        <ErrorNote error={members.error} doing="list the members" retry={() => void members.refetch()} />
      )}
      {members.data && <OrgMembers orgId={orgId} members={members.data.members} />}
      <Invites where={where} invite={() => setInviting(true)} />
      {inviting && <InviteDialog where={where} close={() => setInviting(false)} />}
    </Page>
  );
}
