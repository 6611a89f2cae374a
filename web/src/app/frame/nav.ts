import type { Belonging } from '@/features/session/me';
import type { Place } from './place';

export type NavIcon =
  | 'home'
  | 'work'
  | 'history'
  | 'pipelines'
  | 'people'
  | 'keys'
  | 'projects'
  | 'tasks'
  | 'waiting'
  | 'uploads'
  | 'build'
  | 'versions'
  | 'overview';

export interface NavItem {
  label: string;
  to: string;
  icon?: NavIcon;
  /** The item is where the person is only on exactly this path. */
  exact?: boolean;
  /** Status of the pipeline that it leads to. */
  status?: string;
  /** Everything under this path belongs to the item, too. */
  under?: string;
}

export interface NavSection {
  title?: string;
  items: NavItem[];
}

const pipelinesShown = 7;

/** What a person of these roles can go to from here. */
export function navigation(b: Belonging, place: Place): NavSection[] {
  const sections: NavSection[] = [
    {
      items: [
        { label: 'Home', to: '/', icon: 'home', exact: true },
        { label: 'Work', to: '/work', icon: 'work' },
        { label: 'My submissions', to: '/history', icon: 'history' },
      ],
    },
  ];
  const { project, orgId } = place;
  if (project) {
    const admin = b.isAdminOf(project.id);
    const items: NavItem[] = [];
    if (admin) {
      items.push({ label: 'Pipelines', to: `/projects/${project.id}`, icon: 'pipelines', exact: true });
      items.push({ label: 'Project members', to: `/projects/${project.id}/members`, icon: 'people' });
    }
    items.push(...pipelineItems(b, place));
    if (items.length > 0) sections.push({ title: project.name, items });
  }
  if (orgId !== undefined && b.isOrgAdmin(orgId)) {
    sections.push({
      title: b.org(orgId)?.name ?? 'Organization',
      items: [
        { label: 'Projects', to: '/projects', icon: 'projects', exact: true },
        { label: 'Members', to: `/orgs/${orgId}/members`, icon: 'people' },
        { label: 'API keys', to: `/orgs/${orgId}/keys`, icon: 'keys' },
      ],
    });
  }
  return sections;
}

/** Running pipelines, and whichever is open. */
function pipelineItems(b: Belonging, { project, pipelineId }: Place): NavItem[] {
  if (!project) return [];
  const running = project.pipelines.filter((p) => p.status === 'ACTIVE' || p.status === 'PAUSED');
  const shown = running.slice(0, pipelinesShown);
  const open = project.pipelines.find((p) => p.id === pipelineId);
  if (open && !shown.includes(open)) shown.push(open);
  return shown.map((p) => ({
    label: p.name,
    status: p.status,
    to: pipelineHome(b, project.id, p.id),
    under: `/pipelines/${p.id}`,
  }));
}

/** Where a pipeline's name leads: admins look after it, others work in it. */
export function pipelineHome(b: Belonging, projectId: number, pipelineId: number): string {
  const role = b.roleIn(projectId);
  if (role === 'project_admin') return `/pipelines/${pipelineId}`;
  return `/pipelines/${pipelineId}/work?role=${role ?? 'contributor'}`;
}

/** What an admin finds inside of a pipeline. */
export function pipelinePages(id: number): NavItem[] {
  return [
    { label: 'Overview', to: `/pipelines/${id}`, icon: 'overview', exact: true },
    { label: 'Tasks', to: `/pipelines/${id}/tasks`, icon: 'tasks' },
    { label: 'Escalated', to: `/pipelines/${id}/waiting`, icon: 'waiting' },
    { label: 'Work', to: `/pipelines/${id}/work`, icon: 'work' },
    { label: 'Uploads', to: `/pipelines/${id}/uploads`, icon: 'uploads' },
    { label: 'Builder', to: `/pipelines/${id}/build`, icon: 'build' },
    { label: 'Versions', to: `/pipelines/${id}/versions`, icon: 'versions' },
  ];
}

/** Whether the page that is open is, or belongs to, the item's. */
export function isHere(item: NavItem, pathname: string): boolean {
  const path = item.under ?? item.to.split('?')[0] ?? '';
  return pathname === path || (!item.exact && pathname.startsWith(`${path}/`));
}
