import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { body, getUploadDetail, listUploads, type Upload } from '@/api';
import { live } from '@/app/query';

/** Nothing changes any more. */
export function isOver(u: Pick<Upload, 'status'>): boolean {
  return u.status === 'completed' || u.status === 'failed' || u.status === 'cancelled';
}

export function uploadsQuery(pipelineId: number) {
  return infiniteQueryOptions({
    queryKey: ['listUploads', pipelineId],
    queryFn: ({ pageParam }) =>
      body(listUploads({ path: { pipeline_id: pipelineId }, query: { limit: 30, after: pageParam } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.has_more ? last.uploads.at(-1)?.upload_id : undefined),
    refetchInterval: (query) => live * Math.max(1, query.state.data?.pages.length ?? 1),
  });
}

export function uploadQuery(pipelineId: number, uploadId: string) {
  return queryOptions({
    queryKey: ['getUploadDetail', pipelineId, uploadId],
    queryFn: () => body(getUploadDetail({ path: { pipeline_id: pipelineId, upload_id: uploadId } })),
    refetchInterval: (query) => (query.state.data && isOver(query.state.data) ? false : live),
  });
}
