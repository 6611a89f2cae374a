import type { Definition, Layout } from '@/pipeline/definition';

export type Direction = 'left' | 'right' | 'up' | 'down';

/**
 * The node that an arrow key leads to: down along an edge, up back along one,
 * left and right to what stands there, by the shortest way on the screen; null
 * when there is nothing.
 */
export function walk(d: Definition, at: Layout, from: string, direction: Direction): string | null {
  const here = at[from];
  if (!here) return null;
  if (direction === 'down' || direction === 'up') {
    const linked = d.edges.flatMap((e) => {
      if (direction === 'down') return e.from === from ? [e.to] : [];
      return e.to === from ? [e.from] : [];
    });
    const next = nearest(linked, at, here, [1, 1]);
    if (next) return next;
  }
  const there = d.nodes
    .map((n) => n.key)
    .filter((key) => {
      const p = at[key];
      if (key === from || !p) return false;
      const [dx, dy] = [p[0] - here[0], p[1] - here[1]];
      if (direction === 'down') return dy > 0 && Math.abs(dx) <= dy;
      if (direction === 'up') return dy < 0 && Math.abs(dx) <= -dy;
      return direction === 'right' ? dx > 0 : dx < 0;
    });
  // Another height counts more, so that a row is walked before its neighbours.
  return nearest(there, at, here, direction === 'left' || direction === 'right' ? [1, 3] : [1, 1]);
}

function nearest(
  keys: string[],
  at: Layout,
  [x, y]: [number, number],
  [across, along]: [number, number],
): string | null {
  let best: { key: string; far: number } | null = null;
  for (const key of keys) {
    const p = at[key];
    if (!p) continue;
    const far = Math.hypot((p[0] - x) * across, (p[1] - y) * along);
    if (!best || far < best.far) best = { key, far };
  }
  return best?.key ?? null;
}
