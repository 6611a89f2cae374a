import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '@/features/session/me';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { AddMember } from './AddMember';
import { InviteButton } from './InviteButton';
import { InviteDialog } from './InviteDialog';
import { Invites } from './Invites';
import { ProjectMembers } from './ProjectMembers';
import { projectMembersQuery } from './queries';

/** Who works in the project, as what. */
export default function ProjectMembersPage() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/members' });
  const b = useMe();
  if (!b.isAdminOf(projectId)) return <AdminsOnly title="Project members" of="the project" />;
  return <Members projectId={Number(projectId)} />;
}

function Members({ projectId }: { projectId: number }) {
  const b = useMe();
  const members = useQuery(projectMembersQuery(projectId));
  const [inviting, setInviting] = useState(false);
  const where = { projectId };
  return (
    <Page
      title={`Members of ${b.project(projectId)?.name ?? 'the project'}`}
      lead="Contributors do the tasks, reviewers check them, project admins build the pipelines and see everything."
      actions={<InviteButton invite={() => setInviting(true)} />}
    >
      {members.isPending && <RowsSkeleton />}
      {members.error && !members.data && (
        <ErrorNote error={members.error} doing="list the members" retry={() => void members.refetch()} />
      )}
      {members.data && (
        <>
          <AddMember projectId={projectId} candidates={members.data.candidates} />
          <ProjectMembers projectId={projectId} members={members.data.members} />
        </>
      )}
      <Invites where={where} invite={() => setInviting(true)} />
      {inviting && <InviteDialog where={where} close={() => setInviting(false)} />}
    </Page>
  );
}
