import { expect, test } from 'vitest';
import { allKept, isKept, isNumeral } from './digits';

test.each([
  ['0', true],
  ['-0', true],
  ['0.00', true],
  ['007', true],
  ['1.0', true],
  ['1.50', true],
  ['0.1', true],
  ['1e3', true],
  ['1E+3', true],
  ['100e-2', true],
  ['-12.5', true],
  ['123456789012345', true],
  ['0.123456789012345', true],
  ['9007199254740991', true],
  ['9007199254740993', false],
  ['12345678901234567', false],
  ['-12345678901234567', false],
  ['12345678901234568', true], // what JSON makes of the one above
  ['1812345678901234567', false],
  ['0.12345678901234567891', false],
  ['1000000000000000000000', true], // written back as 1e+21
  ['1e21', true],
  ['1e308', true],
  ['1e400', false],
  ['-1e400', false],
  ['1e-400', false],
  ['0e400', true],
  ['1e99999999999999999999', false],
  ['', false],
  ['1.', false],
  ['NaN', false],
  ['Infinity', false],
])('that %s is kept: %s', (text, kept) => expect(isKept(text)).toBe(kept));

test('a number of more digits than can be kept is a number still', () => {
  expect(isNumeral('12345678901234567')).toBe(true);
  expect(isNumeral('1e400')).toBe(true);
  for (const text of ['', '-', '1.', '.5', '0x10', '12,5', 'Infinity']) expect(isNumeral(text)).toBe(false);
});

test.each([
  ['{"id": 1812345678901234567}', false],
  ['[1, [2, {"deep": 12345678901234567}]]', false],
  ['{"a":1e400}', false],
  ['{"id": "1812345678901234567"}', true],
  ['{"1812345678901234567": 1}', true],
  ['["\\"", "12345678901234567\\\\", "\\" 12345678901234567 "]', true],
  ['["\\\\", 12345678901234567]', false],
  ['[1.50, -0, 1e3, 1.5E-7, true, null, "x"]', true],
  ['12345678901234567', false],
  ['"12345678901234567"', true],
])('that the numbers of %s are kept: %s', (json, kept) => {
  expect(() => JSON.parse(json)).not.toThrow();
  expect(allKept(json)).toBe(kept);
});

// A search that began anew at every zero would take minutes.
test('a long row of zeros is looked through once', () => {
  expect(isKept(`1${'0'.repeat(200_000)}1`)).toBe(false);
});
