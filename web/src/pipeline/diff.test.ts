import { describe, expect, it } from 'vitest';
import type { Definition } from './definition';
import { diff, equal } from './diff';

const base: Definition = {
  name: 'p',
  nodes: [
    { key: 'start', kind: 'start' },
    {
      key: 'solve',
      kind: 'subtask',
      title: 'Solve',
      fields: [
        { name: 'question', type: 'long_text', input: 'seeded' },
        { name: 'mood', type: 'select', input: 'contributor', options: [{ value: 'good' }, { value: 'bad' }] },
      ],
    },
    { key: 'end', kind: 'end' },
  ],
  edges: [
    { from: 'start', to: 'solve' },
    { from: 'solve', to: 'end' },
  ],
};
const changed = (change: (d: Definition) => void) => {
  const d = structuredClone(base);
  change(d);
  return diff(base, d);
};
const fields = (d: Definition) => d.nodes[1]?.fields ?? [];

describe('diff', () => {
  it('finds nothing between spellings of the same', () => {
    const spelled = structuredClone(base) as unknown as {
      nodes: { fields?: { options?: unknown; required?: boolean }[] }[];
    };
    const f = spelled.nodes[1]?.fields?.[1];
    if (f) Object.assign(f, { options: ['good', 'bad'], required: false, rules: {} });
    expect(diff(base, spelled)).toEqual([]);
    expect(diff(base, base)).toEqual([]);
  });

  it('names what was changed, with both values', () => {
    expect(changed((d) => Object.assign(fields(d)[0] ?? {}, { title: 'Q', rules: { max_chars: 5 } }))).toEqual([
      { kind: 'added', group: 'Solve', what: 'field question · title', after: 'Q' },
      { kind: 'added', group: 'Solve', what: 'field question · rules', after: '{"max_chars":5}' },
    ]);
    expect(changed((d) => Object.assign(d, { name: 'q' }))).toEqual([
      { kind: 'changed', group: 'Pipeline', what: 'name', before: 'p', after: 'q' },
    ]);
  });

  it('matches options by value, also when they move', () => {
    expect(
      changed((d) =>
        Object.assign(fields(d)[1] ?? {}, {
          options: [{ value: 'bad' }, { value: 'good', label: 'Good' }, { value: 'so' }],
        }),
      ),
    ).toEqual([
      { kind: 'added', group: 'Solve', what: 'field mood · options · good · label', after: 'Good' },
      { kind: 'added', group: 'Solve', what: 'field mood · options · so' },
      {
        kind: 'moved',
        group: 'Solve',
        what: 'order of field mood · options',
        before: 'good, bad',
        after: 'bad, good, so',
      },
    ]);
  });

  it('tells steps, fields, their order and connections that came and went', () => {
    const found = changed((d) => {
      d.nodes.splice(2, 0, { key: 'check', kind: 'review', title: 'Check' });
      d.edges = [
        { from: 'start', to: 'solve' },
        { from: 'solve', to: 'check', when: { field: 'mood', op: 'eq', value: 'bad' } },
      ];
      fields(d).reverse();
      fields(d).push({ name: 'why', type: 'long_text', input: 'contributor' });
    });
    expect(found.map((c) => `${c.kind} ${c.group}: ${c.what}`)).toEqual([
      'added Solve: field why',
      'moved Solve: order of the fields',
      'added Check: review step',
      'added Solve → Check: connection',
      'removed Solve → End: connection',
    ]);
    expect(found[3]?.after).toBe('mood is bad');
  });

  it('writes conditions in words', () => {
    const [c] = changed((d) =>
      Object.assign(d.edges[1] ?? {}, { when: { field: 'mood', op: 'in', value: ['a', 'b'] } }),
    );
    expect(c).toMatchObject({ what: 'condition', before: 'always', after: 'mood is one of a, b' });
  });
});

describe('equal', () => {
  it('minds neither the order of keys nor absent ones', () => {
    expect(equal({ a: 1, b: [1, { c: undefined }] }, { b: [1, {}], a: 1 })).toBe(true);
    expect(equal([1, 2], [2, 1])).toBe(false);
    expect(equal({ a: null }, {})).toBe(false);
    expect(equal([], {})).toBe(false);
  });
});
