import { Menu } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import { useRouter } from '@tanstack/react-router';
import { useMe } from '@/features/session/me';
import { ProjectName } from './faces';
import { listedProjects } from './listedProjects';
import { usePlace } from './place';

/** Organization and project: what the navigation is about. */
export default function ProjectSwitcher() {
  const b = useMe();
  const { project } = usePlace();
  const router = useRouter();
  if (b.projects.length === 0) return <ProjectName />;
  const listed = listedProjects(b.projects, project?.id);
  return (
    <Menu position="bottom-start" width={280} withinPortal={false}>
      <Menu.Target>
        <ProjectName />
      </Menu.Target>
      <Menu.Dropdown>
        {b.orgs.map((o) => {
          const projects = listed.filter((p) => p.org_id === o.id);
          const none = !b.projects.some((p) => p.org_id === o.id);
          if (projects.length === 0 && !none) return null;
          return (
            <div key={o.id}>
              <Menu.Label>{o.name}</Menu.Label>
              {none &&
                (o.role === 'org_admin' ? (
                  <Menu.Item onClick={() => router.history.push(`/orgs/${o.id}/members`)}>
                    No projects yet: look after it
                  </Menu.Item>
                ) : (
                  <Menu.Item disabled>No projects yet</Menu.Item>
                ))}
              {projects.map((p) => (
                <Menu.Item
                  key={p.id}
                  rightSection={p.id === project?.id ? <IconCheck size={15} aria-label="current" /> : undefined}
                  onClick={() => router.history.push(`/projects/${p.id}`)}
                >
                  {p.name}
                </Menu.Item>
              ))}
            </div>
          );
        })}
        <Menu.Divider />
        <Menu.Item onClick={() => router.history.push('/projects')}>
          {listed.length < b.projects.length ? `All ${b.projects.length} projects` : 'All projects'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
