import { expect, it } from 'vitest';
import type { Project } from '@/api';
import { listedProjects } from './listedProjects';

const projects = Array.from(
  { length: 30 },
  (_, i): Project => ({
    id: i,
    org_id: 1,
    name: `P${String(30 - i).padStart(2, '0')}`,
    role: 'contributor',
    pipelines: [],
  }),
);

it('lists all of a few, and of many the current one with the first by name', () => {
  expect(listedProjects(projects.slice(0, 4), 2)).toHaveLength(4);
  const names = listedProjects(projects, 0).map((p) => p.name);
  expect(names).toHaveLength(10);
  expect(names).toContain('P30'); // the current one
  expect(names).toContain('P01');
  expect(names).not.toContain('P20');
});
