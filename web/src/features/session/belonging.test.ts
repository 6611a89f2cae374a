import { describe, expect, it } from 'vitest';
import type { Me, Project } from '@/api';
import { belonging } from './belonging';

const me: Me = {
  id: 1,
  email: 'a@x.test',
  name: 'A',
  orgs: [
    { id: 1, slug: 'one', name: 'One', role: 'org_admin' },
    { id: 2, slug: 'two', name: 'Two', role: 'member' },
  ],
};
const project = (id: number, org_id: number, role: Project['role'], pipeline: number): Project => ({
  id,
  org_id,
  name: `P${id}`,
  role,
  pipelines: [{ id: pipeline, name: `L${pipeline}`, status: 'ACTIVE' }],
});
const projects = [
  project(10, 1, 'contributor', 100),
  project(20, 2, 'reviewer', 200),
  project(21, 2, 'project_admin', 210),
];

describe('belonging', () => {
  const b = belonging(me, projects);

  it('makes org admins project admins everywhere in their organization, and nowhere else', () => {
    expect(b.roleIn(10)).toBe('project_admin');
    expect(b.roleIn(20)).toBe('reviewer');
    expect(b.isAdminOf(20)).toBe(false);
    expect(b.isAdminOf(21)).toBe(true);
    expect(b.isOrgAdmin(1)).toBe(true);
    expect(b.isOrgAdmin(2)).toBe(false);
  });

  it('takes ids as routes have them', () => {
    expect(b.project('20')?.name).toBe('P20');
    expect(b.pipeline('210')?.project.id).toBe(21);
    expect(b.isOrgAdmin('1')).toBe(true);
  });

  it('knows nothing of what is not theirs', () => {
    for (const id of [undefined, 0, 99, 'x']) {
      expect(b.project(id)).toBeUndefined();
      expect(b.pipeline(id)).toBeUndefined();
      expect(b.roleIn(id)).toBeUndefined();
      expect(b.isAdminOf(id)).toBe(false);
      expect(b.isOrgAdmin(id)).toBe(false);
    }
  });

  it('tells admins from others', () => {
    expect(b.isAdminSomewhere).toBe(true);
    const member = { ...me, orgs: me.orgs.filter((o) => o.role === 'member') };
    expect(belonging(member, projects.slice(1, 2)).isAdminSomewhere).toBe(false);
    expect(belonging(member, projects.slice(1)).isAdminSomewhere).toBe(true);
  });
});
