import { describe, expect, it } from 'vitest';
import {
  editable,
  fieldsOf,
  inWords,
  newLeaf,
  opsFor,
  partsOf,
  renamed,
  reshape,
  shapeOf,
  startValue,
  subject,
  withField,
  withOp,
} from './conditions';
import { type Condition, type Field, fieldTypes } from './definition';

const field = (name: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  name,
  type,
  input: 'contributor',
  ...more,
});
const mood = field('mood', 'select', { options: [{ value: 'good', label: 'Good' }, { value: 'bad' }] });
const score = field('score', 'number');
const sure = field('sure', 'boolean');
const pick = field('pick', 'pairwise');
const survey = field('survey', 'likert', { rows: [{ value: 'r1', label: 'First' }], scale: { min: 1, max: 7 } });
const known = [mood, score, sure, pick, survey];

describe('condition editing', () => {
  it('begins with something that makes sense for the field', () => {
    expect(newLeaf(mood)).toEqual({ field: 'mood', op: 'eq', value: 'good' });
    expect(newLeaf(sure)).toEqual({ field: 'sure', op: 'eq', value: true });
    expect(newLeaf(pick)).toEqual({ field: 'pick.choice', op: 'eq', value: 'a' });
    expect(newLeaf(survey)).toEqual({ field: 'survey', op: 'empty' });
    expect(newLeaf(undefined)).toEqual({ field: '', op: 'eq', value: '' });
  });

  it('offers operators for every type, ordered ones for what has an order', () => {
    for (const type of fieldTypes) expect(opsFor({ type })).toEqual(expect.arrayContaining(['empty', 'not_empty']));
    expect(opsFor(score)).toContain('gt');
    expect(opsFor(mood)).not.toContain('gt');
    expect(opsFor(sure)).toEqual(['eq', 'ne', 'empty', 'not_empty']);
    expect(opsFor(survey)).toEqual(['empty', 'not_empty']);
  });

  it('changes field and operator, and keeps a value that still fits', () => {
    const leaf: Condition = { field: 'score', op: 'gt', value: 5 };
    expect(withOp(leaf, 'lte', known)).toEqual({ field: 'score', op: 'lte', value: 5 });
    expect(withOp(leaf, 'in', known)).toEqual({ field: 'score', op: 'in', value: [5] });
    expect(withOp({ field: 'score', op: 'in', value: [5, 6] }, 'eq', known)).toEqual({
      field: 'score',
      op: 'eq',
      value: 5,
    });
    expect(withOp(leaf, 'empty', known)).toEqual({ field: 'score', op: 'empty' });
    expect(withField(leaf, 'mood', known)).toEqual({ field: 'mood', op: 'eq', value: 'good' });
    expect(withField(leaf, 'survey.r1', known)).toEqual({ field: 'survey.r1', op: 'gt', value: 1 });
    expect(withField(leaf, 'gone', known)).toEqual({ ...leaf, field: 'gone' });
  });

  it('looks at parts of values', () => {
    expect(partsOf(survey)).toEqual([{ key: 'r1', label: 'First' }]);
    expect(subject('survey.r1', known)).toMatchObject({ type: 'rating', scale: { max: 7 } });
    expect(subject('pick.choice', known)?.options?.map((o) => o.value)).toEqual(['a', 'b', 'tie', 'both_bad']);
    expect(subject('nothing', known)).toBeUndefined();
    expect(startValue(undefined, 'eq')).toBeUndefined();
  });

  it('changes its shape without losing what is in it', () => {
    const leaf: Condition = { field: 'mood', op: 'eq', value: 'good' };
    const both = reshape(reshape(leaf, 'all'), 'any');
    expect(both).toEqual({ any: [leaf] });
    expect(reshape(both, 'leaf')).toEqual(leaf);
    expect(reshape(leaf, 'not')).toEqual({ not: leaf });
    const two: Condition = { all: [leaf, leaf] };
    expect(reshape(two, 'not')).toEqual({ not: two });
    expect(reshape(two, 'leaf')).toEqual(two);
    expect(['all', 'not', 'leaf'].map((s) => shapeOf(reshape(leaf, s as 'all')))).toEqual(['all', 'not', 'leaf']);
  });

  it('knows what it cannot show', () => {
    expect(editable({ all: [{ field: 'a', op: 'empty' }, { not: { field: 'b', op: 'eq', value: 1 } }] })).toBe(true);
    expect(editable({ all: [], field: 'a', op: 'empty' })).toBe(false);
    expect(editable({})).toBe(false);
    expect(editable({ any: [{ all: 'x' }] })).toBe(false);
    expect(editable(null)).toBe(false);
  });

  it('says itself in words', () => {
    const c: Condition = {
      all: [
        { field: 'mood', op: 'eq', value: 'bad' },
        { any: [{ field: 'score', op: 'lt', value: 3 }, { not: { field: 'sure', op: 'eq', value: true } }] },
      ],
    };
    expect(inWords(c)).toBe('mood is bad and (score is less than 3 or not (sure is yes))');
    expect(inWords({ field: 'x', op: 'nin', value: [] })).toBe('x is none of nothing');
    expect(fieldsOf(c)).toEqual(['mood', 'score', 'sure']);
  });

  it('renames fields and leaves parts alone', () => {
    expect(
      renamed(
        {
          any: [
            { field: 'a.b', op: 'empty' },
            { field: 'ab', op: 'empty' },
          ],
        },
        (n) => (n === 'a' ? 'z' : n),
      ),
    ).toEqual({
      any: [
        { field: 'z.b', op: 'empty' },
        { field: 'ab', op: 'empty' },
      ],
    });
  });
});
