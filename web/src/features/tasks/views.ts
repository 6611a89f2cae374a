import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, putSetting } from '@/api';
import { settingsQuery } from '@/features/account/settings';
import { type Filters, parseFilters } from './filters';

/** Filters under a name, kept for the person and the pipeline. */
export interface View {
  name: string;
  filters: Filters;
}

const maxViews = 30;

/** What a setting holds, whoever wrote it. */
export function parseViews(raw: unknown): View[] {
  if (!Array.isArray(raw)) return [];
  const seen = new Set<string>();
  return raw.flatMap((v): View[] => {
    const name = typeof v?.name === 'string' ? v.name.trim() : '';
    if (!name || seen.has(name) || typeof v.filters !== 'object' || v.filters === null) return [];
    seen.add(name);
    return [{ name, filters: parseFilters(v.filters) }];
  });
}

/** The views with one more; one of the same name is replaced where it stands. */
export function withView(views: readonly View[], view: View): View[] {
  const at = views.findIndex((v) => v.name === view.name);
  if (at >= 0) return views.map((v, i) => (i === at ? view : v));
  return [...views, view].slice(-maxViews);
}

export function useViews(pipelineId: number) {
  const client = useQueryClient();
  const key = `views.tasks.${pipelineId}`;
  const settings = useQuery(settingsQuery);
  const views = parseViews(settings.data?.[key]);
  const save = useMutation({
    // To the list as the server has it: what is known here may be of before another tab's, or not be loaded yet.
    mutationFn: async (change: (stored: View[]) => View[]) => {
      const stored = await client.fetchQuery({ ...settingsQuery, staleTime: 0 });
      const next = change(parseViews(stored[key]));
      return body(putSetting({ path: { key }, body: { value: next.length > 0 ? next : null } }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: settingsQuery.queryKey }),
  });
  return {
    views,
    add: (view: View) => save.mutateAsync((stored) => withView(stored, view)),
    remove: (name: string) => save.mutateAsync((stored) => stored.filter((v) => v.name !== name)),
    error: save.error,
    busy: save.isPending,
  };
}
