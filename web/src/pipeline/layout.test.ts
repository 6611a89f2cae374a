import { describe, expect, it } from 'vitest';
import type { Definition } from './definition';
import { arrange, complete, free, usualSize } from './layout';

const d: Definition = {
  name: 'p',
  nodes: ['start', 'a', 'b', 'end'].map((key) => ({ key, kind: key === 'start' || key === 'end' ? key : 'subtask' })),
  edges: [
    { from: 'start', to: 'a' },
    { from: 'start', to: 'b' },
    { from: 'a', to: 'end' },
    { from: 'b', to: 'end' },
    { from: 'b', to: 'gone' },
  ],
};

describe('layout', () => {
  it('puts each node below what leads to it, and none on another', async () => {
    const at = await arrange(d);
    expect(Object.keys(at).sort()).toEqual(['a', 'b', 'end', 'start']);
    for (const e of d.edges.slice(0, 4)) {
      expect(at[e.to]?.[1]).toBeGreaterThanOrEqual((at[e.from]?.[1] ?? 0) + usualSize.height);
    }
    expect(Math.abs((at.a?.[0] ?? 0) - (at.b?.[0] ?? 0))).toBeGreaterThanOrEqual(usualSize.width);
  });

  it('minds the measured sizes', async () => {
    const at = await arrange(d, new Map([['a', { width: 220, height: 300 }]]));
    expect((at.end?.[1] ?? 0) - (at.a?.[1] ?? 0)).toBeGreaterThanOrEqual(300);
  });

  it('keeps places that are known and finds some for the rest; of hardly any it keeps none', () => {
    const kept = { start: [5, 5], a: [5, 200], b: [400, 200] } as const;
    const at = complete(d, { ...kept } as never);
    expect(at).toMatchObject(kept);
    expect(at?.end?.[1]).toBeGreaterThan(200);
    expect(complete(d, { start: [5, 5] })).toBeNull();
    expect(complete(d, {})).toBeNull();
  });

  it('finds a free place', () => {
    const [x] = free([0, 0], { a: [0, 0], b: [usualSize.width + 48, 0] });
    expect(x).toBeGreaterThanOrEqual(2 * usualSize.width);
    expect(free([0, 0], { a: [0, 500] })).toEqual([0, 0]);
  });
});
