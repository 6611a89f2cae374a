import { describe, expect, test } from 'vitest';
import { toCSV } from './csv';

const one = (v: string) =>
  toCSV(['x'], [[v]])
    .split('\r\n')
    .slice(1, -1)
    .join('\r\n');

describe('toCSV', () => {
  test('quotes what needs it', () => {
    expect(
      toCSV(
        ['row', 'message'],
        [
          [1, 'a, "b"'],
          [2, 'two\nlines'],
        ],
      ),
    ).toBe('row,message\r\n1,"a, ""b"""\r\n2,"two\nlines"\r\n');
    expect(one(' padded ')).toBe('" padded "');
  });
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '|cmd', '%0A', '＝1', '\r=1'])('%j is no formula', (v) => {
    expect(one(v).replace(/^"/, '')).toMatch(/^'/);
  });
  test('numbers of ours stay numbers, text stays text', () => {
    expect(toCSV(['n', 't'], [[-5, 'a-b']])).toBe('n,t\r\n-5,a-b\r\n');
    expect(toCSV(['n'], [[null], [undefined]])).toBe('n\r\n\r\n\r\n');
  });
});
