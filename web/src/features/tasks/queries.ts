import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import {
  body,
  getTaskDetail,
  type ListedTask,
  listPipelineTasks,
  listProjectMembers,
  listWaiting,
  type WaitingNode,
} from '@/api';
import { live } from '@/app/query';
import { type Filters, type TaskQuery, toQuery } from './filters';

/** How many tasks one request brings. */
export const pageSize = 100;

/** Where a further page begins, and with it what the pages before it were asked for. */
interface Further {
  cursor: string;
  asked: TaskQuery;
}

/**
 * The tasks of a pipeline, newest first, page by page. The more pages are open, the rarer they are asked for again. An
 * age counts anew each time; a page knows what it was asked for, since a cursor is good for that only.
 */
export function tasksQuery(pipelineId: number, filters: Filters) {
  return infiniteQueryOptions({
    queryKey: ['listPipelineTasks', pipelineId, filters],
    queryFn: async ({ pageParam, signal }) => {
      const asked = pageParam?.asked ?? toQuery(filters, Date.now());
      const page = await body(
        listPipelineTasks({
          path: { pipeline_id: pipelineId },
          query: { ...asked, cursor: pageParam?.cursor, limit: pageSize },
          signal,
        }),
      );
      return { ...page, asked };
    },
    initialPageParam: undefined as Further | undefined,
    getNextPageParam: (last): Further | undefined =>
      last.next_cursor ? { cursor: last.next_cursor, asked: last.asked } : undefined,
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

/** What waits for an admin, or what of it is of one status: the server lists the oldest only. */
export function waitingQuery(pipelineId: number, status?: WaitingNode['status']) {
  return queryOptions({
    queryKey: ['listWaiting', pipelineId, status],
    queryFn: () => body(listWaiting({ path: { pipeline_id: pipelineId }, query: { status } })),
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
