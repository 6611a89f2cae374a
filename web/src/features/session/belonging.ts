import type { Me, Org, PipelineSummary, Project } from '@/api';

export type ProjectRole = Project['role'];

/** Route parameters are text, bodies have numbers. */
export type Id = number | string | undefined;

/** Who the caller is and what that lets them see. The server decides again at every request. */
export interface Belonging {
  me: Me;
  orgs: Org[];
  projects: Project[];
  org(id: Id): Org | undefined;
  project(id: Id): Project | undefined;
  /** A pipeline and its project. */
  pipeline(id: Id): (PipelineSummary & { project: Project }) | undefined;
  isOrgAdmin(orgId: Id): boolean;
  isAdminOf(projectId: Id): boolean;
  /** Org admins are project admins everywhere. */
  roleIn(projectId: Id): ProjectRole | undefined;
  /** Has a project, or an organization, to administer. */
  isAdminSomewhere: boolean;
}

export function belonging(me: Me, projects: Project[]): Belonging {
  const orgs = new Map(me.orgs.map((o) => [o.id, o]));
  const byId = new Map(projects.map((p) => [p.id, p]));
  const pipelines = new Map(projects.flatMap((p) => p.pipelines.map((l) => [l.id, { ...l, project: p }] as const)));
  const isOrgAdmin = (id: Id) => orgs.get(Number(id))?.role === 'org_admin';
  const roleIn = (id: Id): ProjectRole | undefined => {
    const p = byId.get(Number(id));
    return p && isOrgAdmin(p.org_id) ? 'project_admin' : p?.role;
  };
  return {
    me,
    orgs: me.orgs,
    projects,
    org: (id) => orgs.get(Number(id)),
    project: (id) => byId.get(Number(id)),
    pipeline: (id) => pipelines.get(Number(id)),
    isOrgAdmin,
    isAdminOf: (id) => roleIn(id) === 'project_admin',
    roleIn,
    isAdminSomewhere:
      me.orgs.some((o) => o.role === 'org_admin') || projects.some((p) => roleIn(p.id) === 'project_admin'),
  };
}
