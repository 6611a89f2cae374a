import { expect, it } from 'vitest';
import { initials } from './Initials';

it.each([
  ['Ada Lovelace', 'AL'],
  ['ada', 'AD'],
  ['Jean-Luc Marie Picard', 'JP'],
  ['李 小龍', '李小'],
  ['😀 Smile', '😀S'],
  ['  ', '?'],
])('%j is %s', (name, letters) => expect(initials(name)).toBe(letters));
