import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  body,
  createInvite,
  createProjectInvite,
  type Grant,
  listInvites,
  listOrgMembers,
  listProjectInvites,
  listProjectMembers,
  removeOrgMember,
  removeProjectMember,
  revokeInvite,
  revokeProjectInvite,
  setOrgRole,
  setProjectRole,
} from '@/api';
import { live } from '@/app/query';
import type { OrgRole, ProjectRole } from './roles';

/** Whose members and invites these are: an organization's, or one project's of it. */
export type Where = { orgId: number } | { projectId: number };

export function orgMembersQuery(orgId: number) {
  return queryOptions({
    queryKey: ['listOrgMembers', orgId],
    queryFn: () => body(listOrgMembers({ path: { org_id: orgId } })),
    refetchInterval: live * 4,
  });
}

export function projectMembersQuery(projectId: number) {
  return queryOptions({
    queryKey: ['listProjectMembers', projectId],
    queryFn: () => body(listProjectMembers({ path: { project_id: projectId } })),
    refetchInterval: live * 4,
  });
}

export function invitesQuery(where: Where) {
  return queryOptions({
    queryKey: 'orgId' in where ? ['listInvites', where.orgId] : ['listProjectInvites', where.projectId],
    queryFn: () =>
      'orgId' in where
        ? body(listInvites({ path: { org_id: where.orgId } }))
        : body(listProjectInvites({ path: { project_id: where.projectId } })),
    refetchInterval: live * 4,
  });
}

/** A change of people also changes what others of these lists say, and maybe the caller's own roles. */
function usePeopleMutation<V, R>(mutationFn: (v: V) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    // Not waited for: the link of a new invite is shown at once.
    onSettled: () =>
      void client.invalidateQueries({
        predicate: ({ queryKey: [op] }) =>
          /^(list(Org|Project)(Members|Invites)|listInvites|getMe|listProjects)$/.test(String(op)),
      }),
  });
}

export function useSetOrgRole(orgId: number) {
  return usePeopleMutation(({ userId, role }: { userId: number; role: OrgRole }) =>
    body(setOrgRole({ path: { org_id: orgId, user_id: userId }, body: { role } })),
  );
}

export function useRemoveOrgMember(orgId: number) {
  return usePeopleMutation((userId: number) => body(removeOrgMember({ path: { org_id: orgId, user_id: userId } })));
}

export function useSetProjectRole(projectId: number) {
  return usePeopleMutation(({ userId, role }: { userId: number; role: ProjectRole }) =>
    body(setProjectRole({ path: { project_id: projectId, user_id: userId }, body: { role } })),
  );
}

export function useRemoveProjectMember(projectId: number) {
  return usePeopleMutation((userId: number) =>
    body(removeProjectMember({ path: { project_id: projectId, user_id: userId } })),
  );
}

export interface NewInviteRequest {
  email: string;
  role: OrgRole | ProjectRole;
  projects: Grant[];
}

export function useInvite(where: Where) {
  return usePeopleMutation(({ email, role, projects }: NewInviteRequest) =>
    'orgId' in where
      ? body(createInvite({ path: { org_id: where.orgId }, body: { email, role: role as OrgRole, projects } }))
      : body(
          createProjectInvite({ path: { project_id: where.projectId }, body: { email, role: role as ProjectRole } }),
        ),
  );
}

export function useRevokeInvite(where: Where) {
  return usePeopleMutation((id: number) =>
    'orgId' in where
      ? body(revokeInvite({ path: { org_id: where.orgId, invite_id: id } }))
      : body(revokeProjectInvite({ path: { project_id: where.projectId, invite_id: id } })),
  );
}
