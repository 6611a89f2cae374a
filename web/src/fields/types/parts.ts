import type { Problem } from '../engine/types';

/** The problems at or below the i-th part of a value, their paths without it. */
export function partProblems(problems: readonly Problem[] | undefined, ...keys: (string | number)[]): Problem[] {
  const start = `/${keys.join('/')}`;
  return (problems ?? [])
    .filter((p) => p.path === start || p.path?.startsWith(`${start}/`))
    .map((p) => ({ ...p, path: p.path?.slice(start.length) || undefined }));
}

/** The problems of the whole value, which its frame shows. */
export function wholeProblems(problems: readonly Problem[] | undefined): Problem[] {
  return (problems ?? []).filter((p) => !p.path);
}
