import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { body, explainQueue, getClaim, getInfo, getSubmission, listHistory } from '@/api';
import { live } from '@/app/query';

export type Role = 'contributor' | 'reviewer';

/**
 * A claim with its form. Asked again now and then: the claim may be ended by an admin, and links to files expire. What
 * the person writes lives elsewhere.
 */
export function workQuery(claimId: string) {
  return queryOptions({
    queryKey: ['getClaim', claimId],
    queryFn: () => body(getClaim({ path: { claim_id: claimId } })),
    staleTime: 10_000,
    refetchInterval: 60_000,
  });
}

/** What the caller can claim in a queue, and why there is not more. */
export function queueStateQuery(pipelineId: number, role: Role) {
  return queryOptions({
    queryKey: ['explainQueue', pipelineId, role],
    queryFn: () => body(explainQueue({ path: { pipeline_id: pipelineId }, query: { role } })),
    refetchInterval: live,
  });
}

/** What the person handed in, newest first; page by page. */
export function historyQuery(pipelineId?: number) {
  return infiniteQueryOptions({
    queryKey: ['listHistory', pipelineId ?? 0],
    queryFn: ({ pageParam }) =>
      body(listHistory({ query: { cursor: pageParam || undefined, limit: 50, pipeline_id: pipelineId } })),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function submissionQuery(claimId: string) {
  return queryOptions({
    queryKey: ['getSubmission', claimId],
    queryFn: () => body(getSubmission({ path: { claim_id: claimId } })),
    refetchInterval: live * 3,
  });
}

/** What the deployment allows. */
export const infoQuery = queryOptions({
  queryKey: ['getInfo'],
  queryFn: () => body(getInfo()),
  staleTime: 300_000,
});
