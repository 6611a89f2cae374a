import { queryOptions } from '@tanstack/react-query';
import { body, getCounts, getPipeline, getSeedExample, listPipelines } from '@/api';
import { live } from '@/app/query';

/** A project's pipelines with their live counts. */
export function pipelinesQuery(projectId: number) {
  return queryOptions({
    queryKey: ['listPipelines', projectId],
    queryFn: () => body(listPipelines({ path: { project_id: projectId } })),
    refetchInterval: live,
  });
}

export function countsQuery(pipelineId: number) {
  return queryOptions({
    queryKey: ['getCounts', pipelineId],
    queryFn: () => body(getCounts({ path: { pipeline_id: pipelineId } })),
    refetchInterval: live,
  });
}

/** Draft, live definition and who saved last; for admins of the project only. */
export function pipelineQuery(pipelineId: number) {
  return queryOptions({
    queryKey: ['getPipeline', pipelineId],
    queryFn: () => body(getPipeline({ path: { pipeline_id: pipelineId } })),
    refetchInterval: live * 3,
  });
}

/** What creates a task of the live version, whose number tells one version's example from the next one's. */
export function seedExampleQuery(pipelineId: number, version: number) {
  return queryOptions({
    queryKey: ['getSeedExample', pipelineId, version],
    queryFn: () => body(getSeedExample({ path: { pipeline_id: pipelineId } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
