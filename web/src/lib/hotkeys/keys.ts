/** One shortcut, taken apart: `mod` is ⌘ on Apple machines and Ctrl elsewhere. */
export interface Keys {
  mod: boolean;
  ctrl: boolean;
  alt: boolean;
  shift: boolean;
  /** As in KeyboardEvent.key, letters in lower case. */
  key: string;
}

/** What of a KeyboardEvent decides about a match. */
export interface Stroke {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  /** Right Alt of many layouts: it makes characters, it is no Ctrl+Alt. */
  altGraph?: boolean;
}

export const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** "mod+shift+z", "Escape", "?", "shift+1", "ArrowUp", "Space", "mod++". */
export function parseKeys(text: string): Keys {
  const parts = text.endsWith('+') ? [...text.slice(0, -1).split('+').filter(Boolean), '+'] : text.split('+');
  const key = parts.pop() ?? '';
  const has = (name: string) => parts.some((p) => p.toLowerCase() === name);
  return {
    mod: has('mod'),
    ctrl: has('ctrl'),
    alt: has('alt'),
    shift: has('shift'),
    key: key === 'Space' ? ' ' : key.length === 1 ? key.toLowerCase() : key,
  };
}

/** "g w" is pressed one after the other. */
export function strokesOf(text: string): string[] {
  return text.split(' ').filter(Boolean);
}

/** A key that types something by itself: such shortcuts can be switched off (WCAG 2.1.4). */
export function isSingle(text: string): boolean {
  return strokesOf(text).every((stroke) => {
    const k = parseKeys(stroke);
    return !k.mod && !k.ctrl && !k.alt && k.key.length === 1 && k.key !== ' ';
  });
}

export function matches(text: string, e: Stroke, apple = isApple): boolean {
  const k = parseKeys(text);
  const ctrl = e.ctrlKey && !e.altGraph;
  const alt = e.altKey && !e.altGraph;
  if (apple) {
    if (e.metaKey !== k.mod || ctrl !== k.ctrl) return false;
  } else if (e.metaKey || ctrl !== (k.mod || k.ctrl)) {
    return false;
  }
  // On Apple machines Option changes the character, hence the code decides there.
  if (alt !== k.alt) return false;
  return sameKey(k, e);
}

function sameKey(k: Keys, e: Stroke): boolean {
  if (k.key.length !== 1) return e.key === k.key && e.shiftKey === k.shift;
  const letter = /[a-z]/.test(k.key);
  const digit = /[0-9]/.test(k.key);
  // Shift is part of how a symbol is typed, and that differs between layouts.
  if ((letter || digit || k.key === ' ' || k.shift) && e.shiftKey !== k.shift) return false;
  if (e.key.toLowerCase() === k.key) return true;
  const strange = k.alt || (e.key.length === 1 && e.key.charCodeAt(0) > 127); // Cyrillic, Greek, Option
  if (letter) return strange && e.code === `Key${k.key.toUpperCase()}`;
  if (digit) return (k.shift || strange) && e.code === `Digit${k.key}`;
  return false;
}

const names: Record<string, string> = {
  ' ': 'Space',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Delete: 'Del',
  Backspace: '⌫',
  Enter: '↵',
  Tab: 'Tab',
};

/** What is printed on each key: ["Ctrl", "↵"]. */
export function keyCaps(text: string, apple = isApple): string[] {
  return strokesOf(text).flatMap((stroke) => capsOf(stroke, apple));
}

function capsOf(text: string, apple: boolean): string[] {
  const k = parseKeys(text);
  const caps: string[] = [];
  if (k.mod) caps.push(apple ? '⌘' : 'Ctrl');
  if (k.ctrl) caps.push(apple ? '⌃' : 'Ctrl');
  if (k.alt) caps.push(apple ? '⌥' : 'Alt');
  if (k.shift) caps.push(apple ? '⇧' : 'Shift');
  caps.push(names[k.key] ?? (k.key.length === 1 ? k.key.toUpperCase() : k.key));
  return caps;
}

/** The value of aria-keyshortcuts on the control that the keys stand for. */
export function ariaKeys(text: string, apple = isApple): string {
  const k = parseKeys(text);
  const parts = [k.mod && (apple ? 'Meta' : 'Control'), k.ctrl && 'Control', k.alt && 'Alt', k.shift && 'Shift'];
  return [...parts.filter(Boolean), k.key === ' ' ? 'Space' : k.key].join('+');
}
