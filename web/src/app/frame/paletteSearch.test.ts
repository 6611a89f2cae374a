import { describe, expect, it } from 'vitest';
import { type Entry, search, taskNumber } from './paletteSearch';

const entry = (label: string, hint = '', group = 'G'): Entry => ({
  id: label + hint,
  label,
  hint,
  group,
  run: () => {},
});
const list = [
  entry('Home'),
  entry('Members of Grade school', 'Demo'),
  entry('Grade-school math check', 'Grade school'),
  entry('Describe a picture', 'Grade school'),
  entry('Résumé screening'),
];
const found = (text: string) => search(list, text).map((e) => e.label);

describe('search', () => {
  it('puts the beginning of the name first, then words of it, then what it belongs to', () => {
    expect(found('grade')).toEqual(['Grade-school math check', 'Members of Grade school', 'Describe a picture']);
  });

  it('takes words in any order, all of which have to fit', () => {
    expect(found('school mem')).toEqual(['Members of Grade school']);
    expect(found('picture math')).toEqual([]);
  });

  it('knows no case and no accents', () => {
    expect(found('RESUME')).toEqual(['Résumé screening']);
  });

  it('keeps everything without a text, and no group too long with one', () => {
    expect(found(' ')).toHaveLength(list.length);
    const many = Array.from({ length: 50 }, (_, i) => entry(`Pipeline ${i}`));
    expect(search(many, 'pipe').length).toBeLessThan(10);
  });
});

describe('taskNumber', () => {
  it.each([
    ['123', 123],
    [' #42 ', 42],
    ['task 7', 7],
    ['Task #7', 7],
    ['0', undefined],
    ['12a', undefined],
    ['math 12', undefined],
    ['', undefined],
  ])('%j is %s', (text, n) => expect(taskNumber(text)).toBe(n));
});
