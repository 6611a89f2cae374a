import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { pipelineQuery } from '@/features/pipelines/queries';
import { useMe } from '@/features/session/me';
import { type Definition, labelOf } from '@/pipeline/definition';
import { membersQuery } from './queries';

export interface Choice {
  value: string;
  label: string;
}

/** How the steps and the people of a pipeline are called, and which there are to choose from. */
export function useNames(pipelineId: number) {
  const project = useMe().pipeline(pipelineId)?.project.id;
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const members = useQuery(membersQuery(project));
  const def = (pipeline.data?.live ?? pipeline.data?.draft) as Definition | undefined;
  const people = members.data?.members;
  return useMemo(() => {
    const steps = (def?.nodes ?? []).filter((n) => n.kind === 'subtask' || n.kind === 'review');
    const titles = new Map(steps.map((n) => [n.key, labelOf(n)]));
    const names = new Map((people ?? []).map((m) => [m.person.id, m.person.name || m.person.email]));
    return {
      nodes: steps.map((n): Choice => ({ value: n.key, label: labelOf(n) })),
      people: [...names].map(([id, label]): Choice => ({ value: String(id), label })),
      node: (key: string) => titles.get(key) ?? key,
      person: (id: number) => names.get(id) ?? `person ${id}`,
    };
  }, [def, people]);
}
