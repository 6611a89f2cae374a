import { describe, expect, it } from 'vitest';
import vectors from '../../../internal/form/testdata/vectors/definitions.json';
import { catalogue, groups, rulesOf, settingsOf, withInput, withType } from './catalogue';
import { type Field, fieldTypes } from './definition';

describe('catalogue', () => {
  it('has every type, in a group', () => {
    for (const type of fieldTypes) expect(groups).toContain(catalogue[type].group);
  });

  it('keeps of a field what its new type knows, and gives it what it needs', () => {
    const text: Field = {
      name: 'a',
      title: 'A',
      type: 'short_text',
      input: 'contributor',
      required: true,
      placeholder: 'x',
      value: 'v',
      rules: { max_chars: 3, pattern: 'a+' },
    };
    const long = withType(text, 'long_text');
    expect(long.rules).toEqual(text.rules);
    expect(long.value).toBeUndefined();
    const select = withType(text, 'select');
    expect(select.rules).toBeUndefined();
    expect(select.placeholder).toBeUndefined();
    expect(select.options).toHaveLength(2);
    expect(select.required).toBe(true);
    const note = withType(text, 'static_content');
    expect([note.input, note.required]).toEqual(['static', undefined]);
    const dated = withType(
      { name: 'n', type: 'number', input: 'contributor', rules: { min: 3, equals_field: 'a' } },
      'date',
    );
    expect(dated.rules).toEqual({ equals_field: 'a' });
  });

  it('drops a look that the new type does not have', () => {
    expect(
      withType({ name: 'n', type: 'number', input: 'contributor', style: 'slider' }, 'boolean').style,
    ).toBeUndefined();
    expect(withType({ name: 'n', type: 'number', input: 'contributor', style: 'slider' }, 'integer').style).toBe(
      'slider',
    );
  });

  it('keeps with an input mode only what belongs to it', () => {
    const f: Field = { name: 'a', type: 'long_text', input: 'llm', llm: { model: 'm', prompt: 'p' }, required: true };
    expect(withInput(f, 'static')).toEqual({ name: 'a', type: 'long_text', input: 'static' });
    expect(withInput({ ...f, input: 'contributor', llm: undefined, value: 'x' }, 'llm')).toMatchObject({
      llm: { model: '', prompt: '' },
    });
    expect('value' in withInput({ ...f, input: 'contributor', value: 'x' }, 'seeded')).toBe(false);
  });

  it('gives a list the settings and rules of its items', () => {
    expect(settingsOf({ type: 'list', item_type: 'select' })).toContain('options');
    expect(rulesOf({ type: 'list', item_type: 'number' })).toEqual(
      expect.arrayContaining(['min_items', 'min', 'step']),
    );
  });

  /** Every definition that the server accepts must be one that the builder can make. */
  it('offers every setting, rule and look of the definitions that the shared vectors accept', () => {
    const cases =
      (vectors as unknown as { cases: { fields?: Field[]; expect: { definition?: unknown[] } }[] }).cases ?? [];
    let seen = 0;
    for (const c of cases) {
      if (!c.fields || c.expect.definition?.length !== 0) continue;
      for (const f of c.fields) {
        seen++;
        expect(rulesOf(f)).toEqual(expect.arrayContaining(Object.keys(f.rules ?? {}).filter((r) => r !== 'accept')));
        if (f.style) expect(catalogue[f.type].styles).toContain(f.style);
        expect(catalogue[f.type].inputs).toContain(f.input);
      }
    }
    expect(seen).toBeGreaterThan(20);
  });
});
