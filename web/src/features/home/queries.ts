import { queryOptions } from '@tanstack/react-query';
import { body, getProgress, listClaims, listQueues } from '@/api';

export const queuesQuery = queryOptions({
  queryKey: ['listQueues'],
  queryFn: () => body(listQueues()),
});

export const claimsQuery = queryOptions({
  queryKey: ['listClaims'],
  queryFn: () => body(listClaims()),
});

/** Days begin at the person's own midnight. */
export const progressQuery = queryOptions({
  queryKey: ['getProgress', -new Date().getTimezoneOffset()],
  queryFn: () => body(getProgress({ query: { tz_offset: -new Date().getTimezoneOffset() } })),
});
