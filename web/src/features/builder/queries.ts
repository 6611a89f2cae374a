import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { body, checkDefinition, getInfo, getPipeline, getVersion, listVersions } from '@/api';
import { live } from '@/app/query';
import type { Definition, Layout } from '@/pipeline/definition';
import { normalize } from '@/pipeline/normalize';
import type { Saved } from './state/draft';

/** The draft with its revision, asked for again and again so that another admin's save is noticed. */
export function draftQuery(id: number) {
  return queryOptions({
    queryKey: ['getPipeline', id],
    queryFn: () => body(getPipeline({ path: { pipeline_id: id } })),
    refetchInterval: live,
    staleTime: 0,
  });
}

export type Draft = Awaited<ReturnType<NonNullable<ReturnType<typeof draftQuery>['queryFn']>>>;

/** The server's draft as the builder holds it. */
export function savedOf(p: Draft): Saved {
  return {
    revision: p.revision,
    doc: { definition: normalize(p.draft), layout: (p.layout ?? {}) as Layout },
    by: p.saved_by?.name ?? null,
    at: p.saved_at ?? p.updated_at,
  };
}

/** What keeps the definition from being published; the last answer stays while the next one is on its way. */
export function checkQuery(id: number, definition: Definition) {
  return queryOptions({
    queryKey: ['checkDefinition', id, definition],
    queryFn: ({ signal }) => body(checkDefinition({ path: { pipeline_id: id }, body: { definition }, signal })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 30_000,
  });
}

export function versionsQuery(id: number) {
  return queryOptions({
    queryKey: ['listVersions', id],
    queryFn: () => body(listVersions({ path: { pipeline_id: id } })),
  });
}

/** A version never changes. */
export function versionQuery(id: number, number: number) {
  return queryOptions({
    queryKey: ['getVersion', id, number],
    queryFn: () => body(getVersion({ path: { pipeline_id: id, number } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What the deployment offers: models, limits. */
export const infoQuery = queryOptions({
  queryKey: ['getInfo'],
  queryFn: () => body(getInfo()),
  staleTime: 300_000,
});
