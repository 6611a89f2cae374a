import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Definition } from '@/pipeline/definition';
import type { Action, Doc, History, Selection } from '@/pipeline/history';
import { type DefinitionProblem, messageFor } from '@/pipeline/problems';

/** What every part of the builder works with. */
export interface Builder {
  id: number;
  projectId: number;
  doc: Doc;
  selection: Selection;
  history: History;
  dispatch: (action: Action) => void;
  /** Changes the definition; edits with the same tag in a row are one step to undo. */
  edit: (change: (d: Definition) => Definition, tag?: string, select?: Partial<Selection>) => void;
  problems: readonly DefinitionProblem[];
  /** Fields that a published version has: their names and types stay. */
  published: ReadonlyMap<string, string>;
  models: readonly string[];
  /** A language model provider is configured; null while unknown. */
  llm: boolean | null;
  /** Goes to a part of what is selected, once it is on the page: "title", "rules.max_chars". */
  focusPart: (part: string) => void;
}

const Context = createContext<Builder | null>(null);
export const BuilderProvider = Context.Provider;

export function useBuilder(): Builder {
  const b = useContext(Context);
  if (!b) throw new Error('useBuilder is for what the builder holds');
  return b;
}

type Found = readonly { part: string; message: string }[];
const Parts = createContext<{ found: Found; prefix: string }>({ found: [], prefix: '' });

/** The problems of the node, field or edge that the panel below shows. */
export function PartProblems({ found, children }: { found: Found; children: ReactNode }) {
  const value = useMemo(() => ({ found, prefix: '' }), [found]);
  return <Parts.Provider value={value}>{children}</Parts.Provider>;
}

/** A piece of it with parts of its own: inside "columns[1]", "type" is "columns[1].type". */
export function PartOf({ name, children }: { name: string; children: ReactNode }) {
  const { found, prefix } = useContext(Parts);
  const full = joined(prefix, name);
  const value = useMemo(() => ({ found, prefix: full }), [found, full]);
  return <Parts.Provider value={value}>{children}</Parts.Provider>;
}

function joined(prefix: string, name: string): string {
  if (!prefix || !name) return prefix || name;
  return name.startsWith('[') ? prefix + name : `${prefix}.${name}`;
}

/** What a control needs to be found by its part and to show what is wrong with it. */
export function usePart(name: string, whole = false): { 'data-part': string; error: string | undefined } {
  const { found, prefix } = useContext(Parts);
  const part = joined(prefix, name);
  const error = whole ? found.find((p) => p.part === part)?.message : messageFor(found, part);
  return { 'data-part': part, error };
}
