import { describe, expect, it } from 'vitest';
import { ariaKeys, isSingle, keyCaps, matches, type Stroke } from './keys';

const stroke = (key: string, more: Partial<Stroke> = {}): Stroke => ({
  key,
  code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : /^\d$/.test(key) ? `Digit${key}` : key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

describe('matches', () => {
  it.each([
    ['a', stroke('a'), true],
    ['a', stroke('A'), true], // caps lock
    ['a', stroke('A', { shiftKey: true }), false],
    ['shift+a', stroke('A', { shiftKey: true }), true],
    ['a', stroke('a', { ctrlKey: true }), false],
    ['mod+Enter', stroke('Enter', { ctrlKey: true }), true],
    ['mod+Enter', stroke('Enter', { metaKey: true }), false],
    ['mod+Enter', stroke('Enter', { ctrlKey: true, shiftKey: true }), false],
    ['mod+shift+z', stroke('Z', { ctrlKey: true, shiftKey: true }), true],
    ['mod+z', stroke('Z', { ctrlKey: true, shiftKey: true }), false],
    ['?', stroke('?', { shiftKey: true }), true], // where it needs shift
    ['?', stroke('?'), true], // where it does not
    ['[', stroke('[', { ctrlKey: true, altKey: true, altGraph: true }), true], // AltGr
    ['shift+1', stroke('!', { code: 'Digit1', shiftKey: true }), true],
    ['1', stroke('!', { code: 'Digit1', shiftKey: true }), false],
    ['1', stroke('1'), true],
    ['1', stroke('1', { code: 'Numpad1' }), true],
    ['Escape', stroke('Escape'), true],
    ['Space', stroke(' ', { code: 'Space' }), true],
    ['k', stroke('л', { code: 'KeyK' }), true], // Cyrillic layout: the key's place
    ['a', stroke('q', { code: 'KeyA' }), false], // French layout: the key's letter
    ['mod++', stroke('+', { ctrlKey: true, shiftKey: true }), true],
    ['alt+n', stroke('n', { altKey: true }), true],
  ])('%s on Windows and Linux: %o is %s', (keys, s, expected) => {
    expect(matches(keys, s, false)).toBe(expected);
  });

  it('takes ⌘ on Apple machines, where Option changes the character', () => {
    expect(matches('mod+k', stroke('k', { metaKey: true }), true)).toBe(true);
    expect(matches('mod+k', stroke('k', { ctrlKey: true }), true)).toBe(false);
    expect(matches('ctrl+k', stroke('k', { ctrlKey: true }), true)).toBe(true);
    expect(matches('alt+n', stroke('˜', { code: 'KeyN', altKey: true }), true)).toBe(true);
  });
});

describe('isSingle', () => {
  it.each([
    ['a', true],
    ['?', true],
    ['shift+1', true],
    ['g w', true],
    ['mod+k', false],
    ['alt+1', false],
    ['Escape', false],
    ['ArrowLeft', false],
    ['Space', false],
  ])('%s: %s', (keys, expected) => expect(isSingle(keys)).toBe(expected));
});

it('prints keys as they are on keyboards, and as ARIA has them', () => {
  expect(keyCaps('mod+shift+Enter', false)).toEqual(['Ctrl', 'Shift', '↵']);
  expect(keyCaps('mod+k', true)).toEqual(['⌘', 'K']);
  expect(keyCaps('g w', false)).toEqual(['G', 'W']);
  expect(ariaKeys('mod+Enter', false)).toBe('Control+Enter');
  expect(ariaKeys('mod+k', true)).toBe('Meta+k');
});
