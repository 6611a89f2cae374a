import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Project } from '@/api';
import { type Belonging, useMe } from '@/features/session/me';

/** Where the person is: the frame shows what belongs there. */
export interface Place {
  project: Project | undefined;
  /** Of the page that is open, if it is about one. */
  pipelineId: number | undefined;
  orgId: number | undefined;
}

interface Params {
  projectId?: string;
  pipelineId?: string;
  orgId?: string;
}

/** Pages that name no project leave the last one in place. */
export function placeOf(b: Belonging, params: Params, last: number | undefined): Place {
  const pipeline = b.pipeline(params.pipelineId);
  const project =
    pipeline?.project ??
    b.project(params.projectId) ??
    inOrg(b, params.orgId, last) ??
    b.project(last) ??
    b.projects.find((p) => p.pipelines.some((l) => l.status === 'ACTIVE')) ??
    b.projects[0];
  return {
    project,
    pipelineId: pipeline?.id,
    orgId: b.org(params.orgId)?.id ?? project?.org_id ?? b.orgs[0]?.id,
  };
}

function inOrg(b: Belonging, orgId: string | undefined, last: number | undefined): Project | undefined {
  if (!b.org(orgId)) return undefined;
  const there = b.projects.filter((p) => p.org_id === Number(orgId));
  return there.find((p) => p.id === last) ?? there[0];
}

const keyOf = (user: number) => `taskloom.project.${user}`;

function read(user: number): number | undefined {
  const id = Number(localStorage.getItem(keyOf(user)));
  return id > 0 ? id : undefined;
}

export function usePlace(): Place {
  const b = useMe();
  const params: Params = useParams({ strict: false });
  const [last, setLast] = useState(() => read(b.me.id));
  const place = placeOf(b, params, last);
  const id = place.project?.id;
  useEffect(() => {
    if (id === undefined) return;
    setLast(id);
    localStorage.setItem(keyOf(b.me.id), String(id));
  }, [id, b.me.id]);
  return place;
}
