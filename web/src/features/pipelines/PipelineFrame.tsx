import { Anchor, Breadcrumbs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useMe } from '@/features/session/me';
import { Page } from '@/ui/Page';
import { StatusBadge } from '@/ui/StatusBadge';
import { PipelineTabs, type Tab } from './PipelineTabs';

const titles: Record<Tab, string> = {
  overview: 'Overview',
  build: 'Build',
  tasks: 'Tasks',
  waiting: 'Waiting for an admin',
  uploads: 'Uploads',
  work: 'Work',
};

interface Props {
  pipelineId: number;
  tab: Tab;
  actions?: ReactNode;
  children: ReactNode;
}

/** What the pages of a pipeline have in common: where it belongs, its name and status, and the way to the others. */
export function PipelineFrame({ pipelineId, tab, actions, children }: Props) {
  const found = useMe().pipeline(pipelineId);
  const name = found?.name ?? `Pipeline ${pipelineId}`;
  // After Page's own effect, which knows the name only.
  useEffect(() => {
    document.title = `${titles[tab]} · ${name} · Taskloom`;
  }, [tab, name]);
  return (
    <>
      <Crumbs project={found?.project} />
      <Page title={name} aside={found && <StatusBadge status={found.status} />} actions={actions}>
        <PipelineTabs pipelineId={pipelineId} current={tab} />
        {children}
      </Page>
    </>
  );
}

/** Where a pipeline or a task belongs; more crumbs may follow. */
export function Crumbs({ project, children }: { project?: { id: number; name: string }; children?: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb" style={{ marginBottom: 6 }}>
      <Breadcrumbs separator="›" separatorMargin={6} style={{ flexWrap: 'wrap' }}>
        <Anchor component={Link} to="/projects" size="sm">
          Projects
        </Anchor>
        {project && (
          <Anchor
            component={Link}
            to={`/projects/${project.id}`}
            size="sm"
            style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}
          >
            {project.name}
          </Anchor>
        )}
        {children}
      </Breadcrumbs>
    </nav>
  );
}
