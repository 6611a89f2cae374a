import { QueryClient } from '@tanstack/react-query';
import { asAPIError } from '@/api';

/** How often what others change is asked for again, in milliseconds; not while the tab sleeps. */
export const live = 4_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, err) => asAPIError(err).transient && failures < 3,
      refetchOnWindowFocus: true,
      refetchIntervalInBackground: false,
    },
    // 'always': what a person does fails at once when the browser knows itself offline, and they are told. By default
    // it would wait without a word, and be done minutes later with what was on the screen then.
    mutations: { retry: false, networkMode: 'always' },
  },
});
