import type { OrgMember, ProjectMember } from '@/api';

export type OrgRole = OrgMember['role'];
export type ProjectRole = ProjectMember['role'];

interface RoleWords<R> {
  value: R;
  label: string;
  /** What the role lets one do. */
  means: string;
}

export const orgRoles: RoleWords<OrgRole>[] = [
  { value: 'member', label: 'Member', means: 'Sees the projects that they have a role in.' },
  { value: 'org_admin', label: 'Org admin', means: 'Admin of every project, of members and of API keys.' },
];

export const projectRoles: RoleWords<ProjectRole>[] = [
  { value: 'contributor', label: 'Contributor', means: 'Does the tasks.' },
  { value: 'reviewer', label: 'Reviewer', means: 'Checks what contributors submitted.' },
  { value: 'project_admin', label: 'Project admin', means: 'Builds pipelines, sees all tasks, manages members.' },
];

export function roleLabel(role: OrgRole | ProjectRole): string {
  return [...orgRoles, ...projectRoles].find((r) => r.value === role)?.label ?? role;
}
