import type { Project } from '@/api';

/** As many as fit without scrolling; the others are on the page of all projects and in the palette. */
const most = 10;

/** The projects of the switcher: the current one and the first others by name, in the server's order. */
export function listedProjects(projects: readonly Project[], current: number | undefined): Project[] {
  if (projects.length <= most) return [...projects];
  const others = projects.filter((p) => p.id !== current);
  others.sort((a, b) => a.name.localeCompare(b.name));
  const kept = new Set(others.slice(0, most - 1).map((p) => p.id));
  return projects.filter((p) => p.id === current || kept.has(p.id));
}
