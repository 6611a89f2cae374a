import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { body, getMe, listProjects, type Me } from '@/api';
import type { Belonging } from './belonging';
import { session } from './session';

export type { Belonging, ProjectRole } from './belonging';

/** Also how a session that another tab ended or took over is noticed. */
export const meQuery = queryOptions({
  queryKey: ['getMe'],
  queryFn: async () => {
    const me = await body(getMe());
    // Nothing of another person is shown in the moment before the app starts anew.
    return session.is(me) ? me : new Promise<Me>(() => {});
  },
  staleTime: 15_000,
  refetchInterval: 60_000,
});

export const projectsQuery = queryOptions({
  queryKey: ['listProjects'],
  queryFn: () => body(listProjects()),
  staleTime: 5_000,
  refetchInterval: 30_000,
});

const Context = createContext<Belonging | null>(null);
export const MeProvider = Context.Provider;

/** The person and where they belong. Everything inside the shell has it; it is never loading there. */
export function useMe(): Belonging {
  const b = useContext(Context);
  if (!b) throw new Error('useMe is for what the shell holds');
  return b;
}
