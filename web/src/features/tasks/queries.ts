import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { body, getTaskDetail, type ListedTask, listPipelineTasks, listProjectMembers, listWaiting } from '@/api';
import { live } from '@/app/query';
import { type Filters, toQuery } from './filters';

/** How many tasks one request brings. */
export const pageSize = 100;

/** The tasks of a pipeline, newest first, page by page. The more pages are open, the rarer they are asked for again. */
export function tasksQuery(pipelineId: number, filters: Filters) {
  return infiniteQueryOptions({
    queryKey: ['listPipelineTasks', pipelineId, filters],
    queryFn: ({ pageParam, signal }) =>
      body(
        listPipelineTasks({
          path: { pipeline_id: pipelineId },
          query: { ...toQuery(filters, pageParam.now), cursor: pageParam.cursor, limit: pageSize },
          signal,
        }),
      ),
    // An age counts from when the list was opened: a cursor is good for its own filter only.
    initialPageParam: { cursor: undefined as string | undefined, now: Date.now() },
    getNextPageParam: (last, _all, param) =>
      last.next_cursor ? { cursor: last.next_cursor, now: param.now } : undefined,
    refetchInterval: (query) => live * Math.max(1, query.state.data?.pages.length ?? 1),
  });
}

export type TaskRow = ListedTask;

export function taskQuery(taskId: number) {
  return queryOptions({
    queryKey: ['getTaskDetail', taskId],
    queryFn: () => body(getTaskDetail({ path: { task_id: taskId } })),
    refetchInterval: live,
  });
}

export function waitingQuery(pipelineId: number) {
  return queryOptions({
    queryKey: ['listWaiting', pipelineId],
    queryFn: () => body(listWaiting({ path: { pipeline_id: pipelineId } })),
    refetchInterval: live,
  });
}

/** Who works in a project, for filters and names; for its admins. */
export function membersQuery(projectId: number | undefined) {
  return queryOptions({
    queryKey: ['listProjectMembers', projectId],
    queryFn: () => body(listProjectMembers({ path: { project_id: projectId ?? 0 } })),
    enabled: projectId !== undefined,
    staleTime: 60_000,
  });
}
