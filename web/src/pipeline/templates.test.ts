import { describe, expect, it } from 'vitest';
import { catalogue, rulesOf, settingsOf } from './catalogue';
import { editable, fieldsOf } from './conditions';
import { namePattern } from './definition';
import { knownToEdge, knownToField, mayConnect, reviewable } from './graph';
import { fieldNames, nodeKeys } from './names';
import { samplesOf } from './sample';
import { templates } from './templates';

/** What the server checks at publish, as far as a template could get it wrong. */
describe.each(templates)('template $id', ({ make }) => {
  const d = make('A name');

  it('has the given name, one start, one end, and keys and names of their own', () => {
    expect(d.name).toBe('A name');
    expect(d.nodes.filter((n) => n.kind === 'start')).toHaveLength(1);
    expect(d.nodes.filter((n) => n.kind === 'end')).toHaveLength(1);
    for (const names of [nodeKeys(d), fieldNames(d)]) {
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(namePattern);
    }
  });

  it('is a graph without circles in which everything lies between start and end', () => {
    d.edges.forEach((e, i) => {
      expect(mayConnect({ ...d, edges: d.edges.slice(0, i) }, e.from, e.to)).toBeNull();
    });
    for (const n of d.nodes) {
      expect(n.kind === 'end' || d.edges.some((e) => e.from === n.key)).toBe(true);
      expect(n.kind === 'start' || d.edges.some((e) => e.to === n.key)).toBe(true);
    }
  });

  it('refers only to what is known, and uses only what a type knows', () => {
    for (const e of d.edges) {
      if (!e.when) continue;
      expect(editable(e.when)).toBe(true);
      expect(knownToEdge(d, e.from).map((p) => p.field.name)).toEqual(expect.arrayContaining(fieldsOf(e.when)));
    }
    for (const n of d.nodes) {
      for (const t of n.reviews ?? []) {
        const target = reviewable(d, n.key).find((x) => x.key === t.node);
        expect(target?.fields?.map((f) => f.name)).toEqual(expect.arrayContaining(t.fields ?? []));
      }
      (n.fields ?? []).forEach((f, i) => {
        const known = knownToField(d, n.key, i).map((p) => p.field.name);
        expect(known).toEqual(expect.arrayContaining([...fieldsOf(f.visible_when), ...(f.sources ?? [])]));
        expect(catalogue[f.type].inputs).toContain(f.input);
        expect(rulesOf(f)).toEqual(expect.arrayContaining(Object.keys(f.rules ?? {})));
        const given = ['options', 'scale', 'rows', 'columns', 'sources', 'accept', 'labels', 'items'].filter(
          (k) => k in f,
        );
        expect(settingsOf(f)).toEqual(expect.arrayContaining(given));
        if (f.style) expect(catalogue[f.type].styles).toContain(f.style);
      });
    }
  });

  it('can be previewed', () => {
    for (const n of d.nodes) expect(() => samplesOf(d, new Set(), n.key)).not.toThrow();
  });
});
