import { describe, expect, it } from 'vitest';
import { carried, copy, paste, readClip } from './clipboard';
import type { Definition } from './definition';
import * as edit from './edit';

const base: Definition = {
  name: 'p',
  nodes: [
    { key: 'start', kind: 'start' },
    {
      key: 'solve',
      kind: 'subtask',
      fields: [
        { name: 'question', type: 'long_text', input: 'seeded' },
        { name: 'answer', type: 'short_text', input: 'contributor' },
        { name: 'again', type: 'short_text', input: 'contributor', rules: { equals_field: 'answer' } },
        {
          name: 'hint',
          type: 'long_text',
          input: 'llm',
          llm: {
            model: 'm',
            prompt: 'About {{ answer }} and {{question}}, not answer.',
            context: ['answer', 'question'],
          },
          visible_when: { all: [{ field: 'answer', op: 'not_empty' }, { not: { field: 'answer.part', op: 'empty' } }] },
        },
      ],
    },
    { key: 'check', kind: 'review', reviews: [{ node: 'solve', fields: ['answer'] }] },
    { key: 'end', kind: 'end' },
  ],
  edges: [
    { from: 'start', to: 'solve' },
    { from: 'solve', to: 'check', when: { field: 'answer', op: 'ne', value: 'answer' } },
    { from: 'check', to: 'end' },
  ],
};
const node = (d: Definition, key: string) => d.nodes.find((n) => n.key === key);

describe('edits', () => {
  it('carries a new field name to everything that refers to it, and to nothing else', () => {
    const d = edit.renameField(base, 'solve', 1, 'result');
    const [, result, again, hint] = node(d, 'solve')?.fields ?? [];
    expect(result?.name).toBe('result');
    expect(again?.rules?.equals_field).toBe('result');
    expect(hint?.llm?.prompt).toBe('About {{result}} and {{question}}, not answer.');
    expect(hint?.llm?.context).toEqual(['result', 'question']);
    expect(hint?.visible_when).toEqual({
      all: [{ field: 'result', op: 'not_empty' }, { not: { field: 'result.part', op: 'empty' } }],
    });
    expect(node(d, 'check')?.reviews).toEqual([{ node: 'solve', fields: ['result'] }]);
    expect(d.edges[1]?.when).toEqual({ field: 'result', op: 'ne', value: 'answer' });
  });

  it('carries no name that two fields have', () => {
    const twice = edit.insertField(base, 'solve', 4, { name: 'answer', type: 'code', input: 'contributor' });
    const d = edit.renameField(twice, 'solve', 4, 'program');
    expect(d.edges[1]?.when?.field).toBe('answer');
  });

  it('carries a new key to edges and reviews', () => {
    const d = edit.renameNode(base, 'solve', 'work');
    expect(d.edges.map((e) => `${e.from}>${e.to}`)).toEqual(['start>work', 'work>check', 'check>end']);
    expect(node(d, 'check')?.reviews?.[0]?.node).toBe('work');
  });

  it('bridges the gap that a removed step leaves, unless a condition stood there', () => {
    const d = edit.removeNodes(base, ['check']);
    expect(d.edges).toEqual([{ from: 'start', to: 'solve' }]);
    const plain = edit.setEdge(base, 1, { when: undefined });
    expect(plain.edges[1]).toEqual({ from: 'solve', to: 'check' });
    expect(edit.removeNodes(plain, ['check']).edges).toContainEqual({ from: 'solve', to: 'end' });
    expect(node(edit.removeNodes(base, ['solve']), 'check')?.reviews).toEqual([]);
  });

  it('adds a step into the only way on, and a review that checks the step before it', () => {
    const { definition: d, key } = edit.addAfter(base, 'check', 'subtask');
    expect(key).toBe('step');
    expect(d.edges.slice(2)).toEqual([
      { from: 'check', to: 'step' },
      { from: 'step', to: 'end' },
    ]);
    const added = edit.addAfter(base, 'solve', 'review');
    expect(node(added.definition, added.key)?.reviews).toEqual([{ node: 'solve' }]);
    // The condition stays before what is put in, so that the way is still taken in the same cases.
    expect(added.definition.edges[1]).toEqual({ ...base.edges[1], to: added.key });
    expect(edit.addAfter(base, 'end', 'subtask').definition.edges).toEqual(base.edges);
  });

  it('removes a field from the reviews that named it, but never widens one to all fields', () => {
    const two = {
      ...base,
      nodes: base.nodes.map((n) =>
        n.key === 'check' ? { ...n, reviews: [{ node: 'solve', fields: ['answer', 'again'] }] } : n,
      ),
    };
    expect(node(edit.removeField(two, 'solve', 2), 'check')?.reviews).toEqual([{ node: 'solve', fields: ['answer'] }]);
    expect(node(edit.removeField(base, 'solve', 1), 'check')?.reviews).toEqual([{ node: 'solve', fields: ['answer'] }]);
  });

  it('moves fields', () => {
    const names = (d: Definition) => node(d, 'solve')?.fields?.map((f) => f.name);
    expect(names(edit.moveField(base, 'solve', 0, 3))).toEqual(['answer', 'again', 'hint', 'question']);
    expect(names(edit.moveField(base, 'solve', 3, 1))).toEqual(['question', 'hint', 'answer', 'again']);
    expect(names(edit.moveField(base, 'solve', 9, 1))).toEqual(names(base));
  });

  it('leaves out what is empty', () => {
    const d = edit.setNode(base, 'solve', { title: '', lease: undefined });
    expect(Object.keys(node(d, 'solve') ?? {})).toEqual(['key', 'kind', 'fields']);
  });
});

describe('clipboard', () => {
  it('pastes copies with names of their own that refer to each other', () => {
    const clip = copy(base, { solve: [10, 20], check: [10, 120] }, ['start', 'solve', 'check']);
    expect(clip.nodes.map((n) => n.key)).toEqual(['solve', 'check']);
    const { definition: d, layout, keys } = paste(base, {}, clip);
    expect(keys).toEqual(['solve_2', 'check_2']);
    expect(layout.solve_2).toEqual([58, 68]);
    const names = d.nodes.flatMap((n) => (n.fields ?? []).map((f) => f.name));
    expect(new Set(names).size).toBe(names.length);
    expect(node(d, 'check_2')?.reviews).toEqual([{ node: 'solve_2', fields: ['answer_2'] }]);
    expect(d.edges.at(-1)).toEqual({
      from: 'solve_2',
      to: 'check_2',
      when: { field: 'answer_2', op: 'ne', value: 'answer' },
    });
    const hint = node(d, 'solve_2')?.fields?.[3];
    expect(hint?.llm?.context).toEqual(['answer_2', 'question_2']);
    expect(hint?.visible_when?.all?.[1]?.not?.field).toBe('answer_2.part');
  });

  it('swaps names at once, so that a new name is not taken for an old one', () => {
    const f = { name: 'a', type: 'ranking', input: 'contributor', source: 'a_2' } as const;
    expect(
      carried(
        f,
        new Map([
          ['a', 'a_2'],
          ['a_2', 'a_3'],
        ]),
      ),
    ).toEqual({ ...f, name: 'a_2', source: 'a_3' });
  });

  it('reads only what a canvas wrote', () => {
    const clip = copy(base, {}, ['solve']);
    expect(readClip(JSON.stringify(clip))).toEqual(clip);
    expect(readClip('hello')).toBeNull();
    expect(readClip('{"taskloom":"nodes"}')).toBeNull();
    expect(readClip('null')).toBeNull();
  });
});
