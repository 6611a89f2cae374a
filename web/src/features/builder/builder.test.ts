// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import type { Definition, Layout, PipelineNode } from '@/pipeline/definition';
import { flowNodes } from './canvas/flow';
import type { StepNodeType } from './canvas/StepNode';
import { walk } from './canvas/walk';
import { findPart } from './focusPart';
import { addInto, addStep, remove, rename } from './state/commands';
import { linesOf } from './Yaml';

const d: Definition = {
  name: 'p',
  nodes: [
    { key: 'start', kind: 'start' },
    { key: 'a', kind: 'subtask' },
    { key: 'b', kind: 'subtask' },
    { key: 'end', kind: 'end' },
  ],
  edges: [
    { from: 'start', to: 'a' },
    { from: 'start', to: 'b' },
    { from: 'a', to: 'end' },
    { from: 'b', to: 'end' },
  ],
};
const at: Layout = { start: [150, 0], a: [0, 130], b: [300, 130], end: [150, 260] };

describe('walking by arrow keys', () => {
  it('goes down and up along edges, left and right along a row', () => {
    expect(walk(d, at, 'start', 'down')).toBe('a');
    expect(walk(d, at, 'b', 'down')).toBe('end');
    expect(walk(d, at, 'b', 'up')).toBe('start');
    expect(walk(d, at, 'a', 'right')).toBe('b');
    expect(walk(d, at, 'b', 'left')).toBe('a');
    expect(walk(d, at, 'end', 'down')).toBeNull();
    expect(walk(d, at, 'nowhere', 'down')).toBeNull();
  });

  it('reaches a node that no edge leads to', () => {
    expect(walk({ ...d, edges: [] }, at, 'start', 'down')).not.toBeNull();
  });
});

describe('commands of the canvas', () => {
  const doc = { definition: d, layout: at };

  it('makes room for a step that is put in between', () => {
    const { doc: next, key } = addInto(doc, 2, 'subtask');
    expect(next.definition.edges.slice(2, 4)).toEqual([
      { from: 'a', to: key },
      { from: key, to: 'end' },
    ]);
    const [y, end] = [next.layout[key]?.[1] ?? 0, next.layout.end?.[1] ?? 0];
    expect(y).toBeGreaterThan(130);
    expect(end).toBeGreaterThan(y);
    expect(next.layout.b).toEqual([300, 130]);
  });

  it('puts a step where it was dropped', () => {
    const { doc: next, key } = addStep(doc, 'review', null, [9, 9]);
    expect(next.layout[key]).toEqual([9, 9]);
    expect(next.definition.edges).toBe(d.edges);
  });

  it('takes the place along when a step is renamed', () => {
    const next = rename(doc, 'a', 'z');
    expect(next.layout.z).toEqual([0, 130]);
    expect('a' in next.layout).toBe(false);
  });

  it('removes nodes, or else the edge', () => {
    expect(remove(doc, ['a'], 0).definition.nodes).toHaveLength(3);
    expect(remove(doc, [], 0).definition.edges).toHaveLength(3);
    expect(remove(doc, [], null)).toBe(doc);
  });
});

describe('a review on the canvas', () => {
  const review: PipelineNode = { key: 'r', kind: 'review', reviews: [{ node: 'a' }, { node: 'b' }] };
  const show = (title: string, before: StepNodeType[] = []) => {
    const steps = d.nodes.map((n) => (n.key === 'a' ? { ...n, title } : n));
    const definition = { ...d, nodes: [...steps, review] };
    return flowNodes({ definition, layout: at }, { nodes: [], edge: null, field: null }, new Map(), before);
  };
  const about = (nodes: StepNodeType[]) => nodes.find((n) => n.id === 'r')?.data.about;

  it('says by its title what it checks, also once that has another one', () => {
    const first = show('Describe it');
    expect(about(first)).toBe('Checks Describe it, b');
    expect(about(show('Draw it', first))).toBe('Checks Draw it, b');
  });
});

describe('the control of a part', () => {
  const root = document.createElement('div');
  root.innerHTML =
    '<input data-part="title"><div data-part="rules"></div><input data-part="rules.max"><div data-part="options"></div><input data-part="options[1].value">';
  const part = (p: string) => findPart(root, p)?.dataset.part;

  it('is the part itself, else what is around it, else what is inside', () => {
    expect(part('rules.max')).toBe('rules.max');
    expect(part('rules.max_chars')).toBe('rules');
    expect(part('options[1].value')).toBe('options[1].value');
    expect(part('options[2].label')).toBe('options');
    root.querySelector('[data-part="options"]')?.remove();
    expect(part('options')).toBe('options[1].value');
    expect(part('llm.prompt')).toBeUndefined();
  });
});

describe('faults of a YAML document', () => {
  it('are found by the line that the server names', () => {
    expect(linesOf(['line 7: unknown field "x"', 'nothing'])).toEqual([
      { line: 7, message: 'line 7: unknown field "x"' },
      { line: 0, message: 'nothing' },
    ]);
    expect(linesOf(['the document is empty'])).toEqual([]);
  });
});
