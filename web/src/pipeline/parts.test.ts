import { describe, expect, it } from 'vitest';
import type { Definition } from './definition';
import { slug, unique } from './names';
import { normalize } from './normalize';
import { countByNode, messageFor, placeOf, problemsAt } from './problems';
import { slots } from './prompt';
import { parseSpan, spanWords, writeSpan } from './span';

describe('names', () => {
  it('makes keys of titles', () => {
    expect(slug('Final answer!', 'x')).toBe('final_answer');
    expect(slug('  Où est-ce ? ', 'x')).toBe('ou_est_ce');
    expect(slug('2nd try', 'x')).toBe('nd_try');
    expect(slug('你好', 'x')).toBe('x');
    expect(slug('a'.repeat(90), 'x')).toHaveLength(63);
  });

  it('numbers what is taken', () => {
    expect(unique('a', [])).toBe('a');
    expect(unique('a', ['a', 'a_2'])).toBe('a_3');
    expect(unique('a_2', ['a_2'])).toBe('a_3');
    const long = 'a'.repeat(63);
    expect(unique(long, [long])).toBe(`${'a'.repeat(61)}_2`);
  });
});

describe('normalize', () => {
  it('spells out short forms and drops what means nothing', () => {
    const d = normalize({
      name: 'p',
      nodes: [
        {
          key: 'a',
          kind: 'subtask',
          fields: [
            {
              name: 's',
              type: 'select',
              input: 'contributor',
              options: ['x', { value: 'y', label: 'Y' }],
              required: false,
              rules: {},
            },
            { name: 'b', type: 'boolean', input: 'static', value: false },
            { name: 'l', type: 'long_text', input: 'llm', llm: { model: 'm', prompt: 'p', tools: ['search'] } },
          ],
        },
      ],
      edges: null,
    });
    expect(d.nodes[0]?.fields).toEqual([
      { name: 's', type: 'select', input: 'contributor', options: [{ value: 'x' }, { value: 'y', label: 'Y' }] },
      { name: 'b', type: 'boolean', input: 'static', value: false },
      { name: 'l', type: 'long_text', input: 'llm', llm: { model: 'm', prompt: 'p', tools: [{ name: 'search' }] } },
    ]);
    expect(d.edges).toEqual([]);
  });

  it('makes keys different, and reads anything', () => {
    expect(normalize({ nodes: [{ key: 'a' }, { key: 'a' }, { kind: 'end' }] }).nodes.map((n) => n.key)).toEqual([
      'a',
      'a_2',
      'end',
    ]);
    expect(normalize(null)).toEqual({ name: '', nodes: [], edges: [] });
  });

  it('keeps what is already so', () => {
    const d: Definition = normalize({
      name: 'p',
      runs: 'at_creation',
      nodes: [{ key: 'a', kind: 'review', max_rework: 0 }],
      edges: [],
    });
    expect(normalize(d)).toEqual(d);
    expect(d.nodes[0]?.max_rework).toBe(0);
  });
});

describe('problems', () => {
  it('reads paths', () => {
    expect(placeOf('nodes[2].fields[0].options[1].value')).toEqual({ node: 2, field: 0, part: 'options[1].value' });
    expect(placeOf('nodes[2].reviews[0].node')).toEqual({ node: 2, part: 'reviews[0].node' });
    expect(placeOf('nodes[2].fields')).toEqual({ node: 2, part: 'fields' });
    expect(placeOf('nodes[2]')).toEqual({ node: 2, part: '' });
    expect(placeOf('edges[1].when.all[0].value')).toEqual({ edge: 1, part: 'when.all[0].value' });
    expect(placeOf('name')).toEqual({ part: 'name' });
  });

  it('counts by node, edges with their source', () => {
    const d = { name: '', nodes: [{ key: 'a', kind: 'subtask' as const }], edges: [{ from: 'a', to: 'b' }] };
    const problems = ['nodes[0].title', 'nodes[0].fields[3].name', 'edges[0].to', 'nodes[9].key', 'nodes'].map(
      (path) => ({ path, message: '' }),
    );
    expect([...countByNode(d, problems)]).toEqual([['a', 3]]);
  });

  it('finds the message of a part or of what is inside it', () => {
    const found = problemsAt([{ path: 'nodes[0].fields[1].rules.max_chars', message: 'too much' }], 0, 1);
    expect(messageFor(found, 'rules.max_chars')).toBe('too much');
    expect(messageFor(found, 'rules')).toBe('too much');
    expect(messageFor(found, 'rules.max')).toBeUndefined();
  });
});

describe('spans and prompts', () => {
  it('reads and writes time spans', () => {
    expect(['30m', '1h30m0s', '1h 30m', '2d', '1.5h', '45s'].map(parseSpan)).toEqual([
      1800, 5400, 5400, 172_800, 5400, 45,
    ]);
    expect(['', '30', 'soon', '1w'].map(parseSpan)).toEqual([undefined, undefined, undefined, undefined]);
    expect([1800, 172_800, 5430, 0].map(writeSpan)).toEqual(['30m', '48h', '1h30m30s', '0s']);
    expect(spanWords(5400)).toBe('1 hour 30 minutes');
  });

  it('finds the slots of a prompt', () => {
    expect(slots('a {{x}} b {{ y_1 }} {{x}} {{ 1x }} {z}')).toEqual(['x', 'y_1']);
  });
});
