import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useMe } from '@/features/session/me';
import classes from './PipelineTabs.module.css';
import { countsQuery } from './queries';

export type Tab = 'overview' | 'build' | 'tasks' | 'waiting' | 'uploads' | 'work';

/** The pages of one pipeline, as far as the caller's role has them. */
export function PipelineTabs({ pipelineId, current }: { pipelineId: number; current: Tab }) {
  const { pipeline, isAdminOf } = useMe();
  const admin = isAdminOf(pipeline(pipelineId)?.project.id);
  const counts = useQuery({ ...countsQuery(pipelineId), enabled: admin });
  const waiting = counts.data ? counts.data.escalated + counts.data.quarantined : 0;
  const params = { pipelineId: String(pipelineId) };
  const bar = useRef<HTMLElement>(null);
  // On a narrow screen the bar scrolls: the tab that is open must be in sight.
  useEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>('[aria-current="page"]');
    if (bar.current && tab) bar.current.scrollLeft = tab.offsetLeft - bar.current.offsetLeft - 24;
  }, []);
  const mark = (tab: Tab) => ({
    params,
    className: classes.tab,
    activeOptions: { exact: true, includeSearch: false },
    'aria-current': tab === current ? ('page' as const) : undefined,
  });
  return (
    <nav ref={bar} aria-label="Pipeline" className={classes.bar}>
      <Link to="/pipelines/$pipelineId" {...mark('overview')}>
        Overview
      </Link>
      {admin && (
        <>
          <Link to="/pipelines/$pipelineId/build" {...mark('build')}>
            Build
          </Link>
          <Link to="/pipelines/$pipelineId/tasks" {...mark('tasks')}>
            Tasks
          </Link>
          <Link to="/pipelines/$pipelineId/waiting" {...mark('waiting')}>
            Waiting
            {waiting > 0 && (
              <Badge size="sm" variant="default" style={{ flexShrink: 0 }} aria-label={`${waiting} wait for an admin`}>
                {waiting}
              </Badge>
            )}
          </Link>
          <Link to="/pipelines/$pipelineId/uploads" {...mark('uploads')}>
            Uploads
          </Link>
        </>
      )}
      <Link to="/pipelines/$pipelineId/work" {...mark('work')}>
        Work
      </Link>
    </nav>
  );
}
