import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Definition } from '@/pipeline/definition';
import type { DefinitionProblem } from '@/pipeline/problems';
import { checkQuery } from './queries';

export interface Check {
  problems: readonly DefinitionProblem[];
  checking: boolean;
  error: unknown;
  recheck: () => void;
}

const none: readonly DefinitionProblem[] = [];

/** The server's word on the draft, a moment after the last edit. */
export function useCheck(id: number, definition: Definition): Check {
  const [settled] = useDebouncedValue(definition, 600);
  const query = useQuery(checkQuery(id, settled));
  return {
    problems: query.data?.problems ?? none,
    checking: query.isFetching || settled !== definition,
    // While there is an answer, an older one is better than none: the chip tells that the server is away.
    error: query.data ? null : query.error,
    recheck: () => void query.refetch(),
  };
}
