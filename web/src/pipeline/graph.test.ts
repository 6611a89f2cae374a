import { describe, expect, it } from 'vitest';
import type { Definition, Field } from './definition';
import { above, below, inOrder, knownToEdge, knownToField, mayConnect, reviewable } from './graph';

const f = (name: string, input: Field['input'] = 'contributor'): Field => ({ name, type: 'short_text', input });
const d: Definition = {
  name: 'p',
  nodes: [
    { key: 'end', kind: 'end' },
    { key: 'c', kind: 'review' },
    { key: 'b', kind: 'subtask', fields: [f('b1'), f('b2')] },
    { key: 'a', kind: 'subtask', fields: [f('a1', 'seeded'), f('a2')] },
    { key: 'start', kind: 'start' },
  ],
  edges: [
    { from: 'start', to: 'a' },
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'end' },
  ],
};
const names = (placed: { field: Field }[]) => placed.map((p) => p.field.name);

describe('graph', () => {
  it('reads from start to end, whatever the order of the document', () => {
    expect(inOrder(d).map((n) => n.key)).toEqual(['start', 'a', 'b', 'c', 'end']);
  });

  it('knows what leads where', () => {
    expect([...above(d, 'b')].sort()).toEqual(['a', 'start']);
    expect([...below(d, 'b')].sort()).toEqual(['c', 'end']);
  });

  it('comes to an end on a circle, and shows every node once', () => {
    const knot = { ...d, edges: [...d.edges, { from: 'b', to: 'a' }] };
    expect(above(knot, 'a').has('a')).toBe(true);
    expect(inOrder(knot)).toHaveLength(5);
  });

  it('offers to fields what stands before them, to edges what is known by then', () => {
    expect(names(knownToField(d, 'b', 1))).toEqual(['a1', 'a2', 'b1']);
    expect(names(knownToField(d, 'a', 0))).toEqual([]);
    expect(names(knownToEdge(d, 'a'))).toEqual(['a1', 'a2']);
    expect(names(knownToEdge(d, 'start'))).toEqual(['a1']);
  });

  it('lets a review check the subtasks before it', () => {
    expect(reviewable(d, 'c').map((n) => n.key)).toEqual(['a', 'b']);
  });

  it('refuses edges that cannot be', () => {
    expect(mayConnect(d, 'a', 'c')).toBeNull();
    expect(mayConnect(d, 'a', 'a')).toMatch(/itself/);
    expect(mayConnect(d, 'a', 'b')).toMatch(/already/);
    expect(mayConnect(d, 'b', 'a')).toMatch(/circle/);
    expect(mayConnect(d, 'end', 'a')).toMatch(/after the end/);
    expect(mayConnect(d, 'a', 'start')).toMatch(/before the start/);
    expect(mayConnect(d, 'a', 'nowhere')).toMatch(/no such/);
  });
});
