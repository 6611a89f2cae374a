import { describe, expect, it } from 'vitest';
import type { Me, Project } from '@/api';
import { belonging } from '@/features/session/belonging';
import { isHere, navigation } from './nav';
import { placeOf } from './place';

const statuses = ['ACTIVE', 'PAUSED', 'DRAFT', 'ARCHIVED'] as const;
const project = (id: number, role: Project['role']): Project => ({
  id,
  org_id: 1,
  name: `Project ${id}`,
  role,
  pipelines: statuses.map((status, i) => ({ id: id * 10 + i, name: `${status} ${id}`, status })),
});

function person(orgRole: Me['orgs'][number]['role'], ...projects: Project[]) {
  const me: Me = { id: 1, email: 'a@x.test', name: 'A', orgs: [{ id: 1, slug: 'o', name: 'Org', role: orgRole }] };
  return belonging(me, projects);
}

const labels = (b: ReturnType<typeof person>, params = {}) =>
  navigation(b, placeOf(b, params, undefined)).flatMap((s) => s.items.map((i) => i.label));

describe('navigation', () => {
  it('of a contributor has work, and nothing to administer', () => {
    const b = person('member', project(1, 'contributor'));
    expect(labels(b)).toEqual(['Home', 'Work', 'My submissions', 'ACTIVE 1', 'PAUSED 1']);
    const [, section] = navigation(b, placeOf(b, {}, undefined));
    expect(section?.items[0]?.to).toBe('/pipelines/10/work?role=contributor');
  });

  it('of a reviewer leads to reviews', () => {
    const b = person('member', project(1, 'reviewer'));
    const [, section] = navigation(b, placeOf(b, {}, undefined));
    expect(section?.items[0]?.to).toBe('/pipelines/10/work?role=reviewer');
  });

  it('of a project admin has the project, not the organization', () => {
    const b = person('member', project(1, 'project_admin'));
    expect(labels(b)).toContain('Project members');
    expect(labels(b)).not.toContain('API keys');
  });

  it('of an org admin has both', () => {
    expect(labels(person('org_admin', project(1, 'contributor')))).toEqual(
      expect.arrayContaining(['Pipelines', 'Project members', 'Members', 'API keys']),
    );
  });

  it('shows the pipeline that is open whatever its status', () => {
    const b = person('org_admin', project(1, 'contributor'));
    expect(labels(b)).not.toContain('DRAFT 1');
    expect(labels(b, { pipelineId: '12' })).toContain('DRAFT 1');
  });
});

describe('the place', () => {
  const b = person('member', project(1, 'contributor'), project(2, 'reviewer'));

  it('is that of the page, else the last one, else the first', () => {
    expect(placeOf(b, { pipelineId: '20' }, 1).project?.id).toBe(2);
    expect(placeOf(b, { projectId: '2' }, 1).project?.id).toBe(2);
    expect(placeOf(b, {}, 2).project?.id).toBe(2);
    expect(placeOf(b, {}, undefined).project?.id).toBe(1);
    expect(placeOf(b, {}, 99).project?.id).toBe(1);
  });
});

it('marks where one is', () => {
  const item = { label: 'P', to: '/pipelines/1/work?role=reviewer', under: '/pipelines/1' };
  expect(isHere(item, '/pipelines/1/tasks')).toBe(true);
  expect(isHere(item, '/pipelines/11')).toBe(false);
  const home = { label: 'Home', to: '/', exact: true };
  expect(isHere(home, '/')).toBe(true);
  expect(isHere(home, '/work')).toBe(false);
});
