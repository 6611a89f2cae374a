import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { asAPIError, body, getSettings, putSetting } from '@/api';

type Settings = Record<string, unknown>;

export const settingsQuery = queryOptions({
  queryKey: ['getSettings'],
  queryFn: async (): Promise<Settings> => (await body(getSettings())).settings as Settings,
  staleTime: 60_000,
});

/**
 * A setting of the person, kept by the server, at once in effect here. A value
 * of null deletes it. Keys: `hotkeys.single`, `time.zone`, `density`, `work.next`,
 * `views.tasks.<pipeline>`.
 */
export function useSetting<T>(
  key: string,
  fallback: T,
): [T, (value: T | null) => void, { loading: boolean; error: unknown }] {
  const client = useQueryClient();
  const settings = useQuery(settingsQuery);
  const save = useMutation({
    mutationKey: ['putSetting', key],
    scope: { id: `setting.${key}` }, // in the order of the clicks
    mutationFn: (value: T | null) => body(putSetting({ path: { key }, body: { value } })),
    retry: (failures, err) => asAPIError(err).transient && failures < 5,
    onMutate: async (value) => {
      await client.cancelQueries({ queryKey: settingsQuery.queryKey });
      const before = client.getQueryData(settingsQuery.queryKey);
      const after = { ...before };
      if (value === null) delete after[key];
      else after[key] = value;
      client.setQueryData(settingsQuery.queryKey, after);
      return { before };
    },
    // Without the others it would stand for all of them.
    onSuccess: (_, __, { before }) => before ?? client.invalidateQueries({ queryKey: settingsQuery.queryKey }),
    onError: (_err, _value, context) => {
      // Others may have been changed since, which stay.
      client.setQueryData(settingsQuery.queryKey, (now) => now && { ...now, [key]: context?.before?.[key] });
      return client.invalidateQueries({ queryKey: settingsQuery.queryKey });
    },
  });
  const stored = settings.data?.[key];
  return [
    stored === undefined ? fallback : (stored as T),
    save.mutate,
    { loading: settings.isPending, error: save.error },
  ];
}
