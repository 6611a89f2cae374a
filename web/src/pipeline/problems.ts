import type { Definition } from './definition';

/** One thing that keeps a definition from being published, as the server tells it. */
export interface DefinitionProblem {
  node?: string;
  field?: string;
  path?: string;
  message: string;
}

/** Where in the document a problem is, by index, and which part of that it is about. */
export interface Place {
  node?: number;
  field?: number;
  edge?: number;
  /** The rest of the path: "rules.max_chars", "options[1].value", "instructions". */
  part: string;
}

/** Reads a path such as "nodes[2].fields[0].options[1].value" or "edges[1].when.all[0].value". */
export function placeOf(path: string): Place {
  const m = /^(nodes|edges)\[(\d+)\](?:\.fields\[(\d+)\])?\.?(.*)$/s.exec(path);
  if (!m) return { part: path };
  const index = Number(m[2]);
  const rest = m[4] ?? '';
  if (m[1] === 'edges') return { edge: index, part: rest };
  return m[3] === undefined ? { node: index, part: rest } : { node: index, field: Number(m[3]), part: rest };
}

/** How many problems each node has, those of the edges out of it included. */
export function countByNode(d: Definition, problems: readonly DefinitionProblem[]): Map<string, number> {
  const out = new Map<string, number>();
  for (const p of problems) {
    const at = placeOf(p.path ?? '');
    const key =
      (at.node !== undefined && d.nodes[at.node]?.key) || (at.edge !== undefined && d.edges[at.edge]?.from) || p.node;
    if (key) out.set(key, (out.get(key) ?? 0) + 1);
  }
  return out;
}

/** The problems of one field, or with field undefined those of the node itself. */
export function problemsAt(
  problems: readonly DefinitionProblem[],
  node: number,
  field?: number,
): { part: string; message: string }[] {
  return problems.flatMap((p) => {
    const at = placeOf(p.path ?? '');
    return at.node === node && at.field === field ? [{ part: at.part, message: p.message }] : [];
  });
}

/** The problems of one edge. */
export function problemsOfEdge(problems: readonly DefinitionProblem[], edge: number) {
  return problems.flatMap((p) => {
    const at = placeOf(p.path ?? '');
    return at.edge === edge ? [{ part: at.part, message: p.message }] : [];
  });
}

/** The first message about the part or anything inside it; undefined when it is fine. */
export function messageFor(found: readonly { part: string; message: string }[], part: string): string | undefined {
  return found.find((p) => p.part === part || p.part.startsWith(`${part}.`) || p.part.startsWith(`${part}[`))?.message;
}
