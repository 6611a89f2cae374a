import { describe, expect, it } from 'vitest';
import type { Definition } from './definition';
import { begin, type Doc, depth, type History, reduce } from './history';

const definition: Definition = {
  name: 'a',
  nodes: [
    { key: 'start', kind: 'start' },
    { key: 'work', kind: 'subtask', fields: [{ name: 'x', type: 'short_text', input: 'contributor' }] },
    { key: 'end', kind: 'end' },
  ],
  edges: [{ from: 'start', to: 'work' }],
};
const doc: Doc = { definition, layout: { start: [0, 0] } };
const named =
  (name: string) =>
  (d: Doc): Doc => ({ ...d, definition: { ...d.definition, name } });
const type = (h: History, name: string, tag?: string) => reduce(h, { type: 'edit', change: named(name), tag });

describe('history', () => {
  it('undoes and redoes, and an edit forgets what could be redone', () => {
    let h = type(type(begin(doc), 'b'), 'c');
    h = reduce(h, { type: 'undo' });
    expect(h.doc.definition.name).toBe('b');
    h = reduce(h, { type: 'redo' });
    expect(h.doc.definition.name).toBe('c');
    h = reduce(reduce(h, { type: 'undo' }), { type: 'undo' });
    expect(h.doc).toBe(doc);
    expect(reduce(h, { type: 'undo' })).toBe(h);
    h = type(h, 'd');
    expect(reduce(h, { type: 'redo' }).doc.definition.name).toBe('d');
  });

  it('takes edits of one tag in a row as one step, until there is a pause', () => {
    let h = type(type(type(begin(doc), 'b', 'name'), 'bc', 'name'), 'bcd', 'name');
    expect(h.past).toHaveLength(1);
    h = type(reduce(h, { type: 'pause' }), 'e', 'name');
    expect(h.past).toHaveLength(2);
    expect(reduce(h, { type: 'undo' }).doc.definition.name).toBe('bcd');
    // Looking elsewhere ends the step, too.
    h = type(reduce(h, { type: 'select', selection: { nodes: ['work'] } }), 'f', 'name');
    expect(h.past).toHaveLength(3);
  });

  it('keeps no step for an edit that changes nothing', () => {
    const h = reduce(begin(doc), { type: 'edit', change: (d) => d, select: { nodes: ['work'] } });
    expect(h.past).toHaveLength(0);
    expect(h.selection.nodes).toEqual(['work']);
  });

  it('keeps no step for positions that nobody chose', () => {
    const h = reduce(begin(doc), { type: 'place', layout: { work: [1, 2] } });
    expect(h.past).toHaveLength(0);
    expect(h.doc.layout).toEqual({ work: [1, 2] });
  });

  it('forgets the oldest steps', () => {
    let h = begin(doc);
    for (let i = 0; i < depth + 5; i++) h = type(h, `n${i}`);
    expect(h.past).toHaveLength(depth);
  });

  it('selects only what is there', () => {
    let h = reduce(begin(doc), { type: 'select', selection: { nodes: ['work'], field: 0 } });
    expect(h.selection).toEqual({ nodes: ['work'], edge: null, field: 0 });
    h = reduce(h, {
      type: 'edit',
      change: (d) => ({
        ...d,
        definition: { ...d.definition, nodes: d.definition.nodes.filter((n) => n.key !== 'work') },
      }),
    });
    expect(h.selection).toEqual({ nodes: [], edge: null, field: null });
    expect(reduce(h, { type: 'select', selection: { edge: 7 } }).selection.edge).toBeNull();
  });

  it('follows what the canvas tells about clicks', () => {
    let h = reduce(begin(doc), { type: 'mark', nodes: [{ key: 'start', on: true }] });
    h = reduce(h, {
      type: 'mark',
      nodes: [
        { key: 'start', on: false },
        { key: 'work', on: true },
      ],
    });
    expect(h.selection.nodes).toEqual(['work']);
    // A click on an edge comes as two pieces of news, in either order.
    h = reduce(h, { type: 'mark', edges: [{ index: 0, on: true }] });
    h = reduce(h, { type: 'mark', nodes: [{ key: 'work', on: false }] });
    expect(h.selection).toEqual({ nodes: [], edge: 0, field: null });
    h = reduce(h, { type: 'mark', nodes: [{ key: 'end', on: true }] });
    h = reduce(h, { type: 'mark', edges: [{ index: 0, on: false }] });
    expect(h.selection).toEqual({ nodes: ['end'], edge: null, field: null });
  });
});
