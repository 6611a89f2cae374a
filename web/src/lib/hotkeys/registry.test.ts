import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { prefs } from '@/lib/prefs';
import { addLayer, type Binding, bindings } from './registry';

const cleanups: (() => void)[] = [];

function register(...list: (Partial<Binding> & { keys: string })[]) {
  const full = list.map((b) => ({ label: b.keys, group: 'Test', run: vi.fn(), ...b }));
  cleanups.push(addLayer({ current: full }));
  return full;
}

function press(key: string, target: Element = document.body, init: KeyboardEventInit = {}) {
  const event = new KeyboardEvent('keydown', {
    key,
    code: `Key${key.toUpperCase()}`,
    bubbles: true,
    cancelable: true,
    ...init,
  });
  target.dispatchEvent(event);
  return event;
}

function element(html: string): Element {
  document.body.innerHTML = html;
  const el = document.body.querySelector('[data-here]') ?? document.body.firstElementChild;
  if (!el) throw new Error('no element');
  return el;
}

beforeEach(() => prefs.set({ singleKeys: true }));
afterEach(() => {
  for (const c of cleanups.splice(0)) c();
  document.body.innerHTML = '';
  vi.useRealTimers();
});

describe('shortcuts', () => {
  it('act, and keep the key from the browser', () => {
    const [b] = register({ keys: 'n' });
    expect(press('n').defaultPrevented).toBe(true);
    expect(b?.run).toHaveBeenCalledOnce();
  });

  it('prefer what was mounted last, which may pass the key on', () => {
    const [frame] = register({ keys: 'n' });
    const [page] = register({ keys: 'n' });
    press('n');
    expect(page?.run).toHaveBeenCalledOnce();
    expect(frame?.run).not.toHaveBeenCalled();
    register({ keys: 'n', run: () => false });
    press('n');
    expect(page?.run).toHaveBeenCalledTimes(2);
  });

  it.each([
    '<input type="text">',
    '<textarea></textarea>',
    '<select></select>',
    '<div contenteditable="true"><p data-here></p></div>',
  ])('let people type in %s', (html) => {
    const [single, chord, allowed] = register(
      { keys: 'n', allowInInput: true },
      { keys: 'mod+s' },
      { keys: 'mod+Enter', allowInInput: true },
    );
    const at = element(html);
    press('n', at);
    press('s', at, { ctrlKey: true });
    press('Enter', at, { ctrlKey: true });
    expect(single?.run).not.toHaveBeenCalled();
    expect(chord?.run).not.toHaveBeenCalled();
    expect(allowed?.run).toHaveBeenCalledOnce();
  });

  it('work on boxes to tick, which take no text', () => {
    const [b, arrow] = register({ keys: 'n' }, { keys: 'ArrowRight' });
    const at = element('<input type="checkbox">');
    press('n', at);
    press('ArrowRight', at);
    expect(b?.run).toHaveBeenCalledOnce();
    expect(arrow?.run).toHaveBeenCalledOnce();
  });

  it('of the page rest while a dialog has the focus', () => {
    const [page, dialog] = register({ keys: 'n' }, { keys: 'x', inDialog: true });
    const at = element('<div role="dialog"><button type="button" data-here></button></div>');
    press('n', at);
    press('x', at);
    expect(page?.run).not.toHaveBeenCalled();
    expect(dialog?.run).toHaveBeenCalledOnce();
  });

  it('of the page rest beneath a dialog, wherever the focus went', () => {
    const [page, dialog] = register({ keys: 'n' }, { keys: 'x', inDialog: true });
    element('<div role="dialog" aria-modal="true"><button type="button"></button></div>');
    expect(press('n').defaultPrevented).toBe(false);
    press('x');
    expect(page?.run).not.toHaveBeenCalled();
    expect(dialog?.run).toHaveBeenCalledOnce();
    document.body.innerHTML = '';
    press('n');
    expect(page?.run).toHaveBeenCalledOnce();
  });

  it('leave Enter to the button that has the focus', () => {
    const [b] = register({ keys: 'Enter' });
    press('Enter', element('<button type="button"></button>'));
    expect(b?.run).not.toHaveBeenCalled();
  });

  it.each([
    '<audio controls></audio>',
    '<input type="radio">',
    '<div role="radiogroup"><input type="radio" data-here><input type="radio" aria-keyshortcuts="1"></div>',
    '<div role="slider" tabindex="0"></div>',
    '<div role="tablist"><button type="button" role="tab" data-here></button></div>',
  ])('leave an arrow to what it moves: %s', (html) => {
    const [arrow, chord] = register({ keys: 'ArrowRight' }, { keys: 'shift+ArrowRight' });
    const at = element(html);
    expect(press('ArrowRight', at).defaultPrevented).toBe(false);
    expect(arrow?.run).not.toHaveBeenCalled();
    press('ArrowRight', at, { shiftKey: true });
    expect(chord?.run).toHaveBeenCalledOnce();
  });

  it('act in the group of the choice that they are printed on, arrows too', () => {
    const [arrow] = register({ keys: 'ArrowRight' });
    const choices = '<input type="radio" data-here><input type="radio" aria-keyshortcuts="ArrowRight">';
    press('ArrowRight', element(`<div role="radiogroup">${choices}</div>`));
    expect(arrow?.run).toHaveBeenCalledOnce();
  });

  it('of one character are off when the person wants that', () => {
    prefs.set({ singleKeys: false });
    const [single, chord, forced] = register({ keys: 'n' }, { keys: 'mod+s' }, { keys: 'x', single: false });
    press('n');
    press('s', document.body, { ctrlKey: true });
    press('x');
    expect(single?.run).not.toHaveBeenCalled();
    expect(chord?.run).toHaveBeenCalledOnce();
    expect(forced?.run).toHaveBeenCalledOnce();
  });

  it('do not repeat while the key is held, unless they say so', () => {
    const [once, often] = register({ keys: 'n' }, { keys: 'z', repeat: true });
    press('n', document.body, { repeat: true });
    press('z', document.body, { repeat: true });
    expect(once?.run).not.toHaveBeenCalled();
    expect(often?.run).toHaveBeenCalledOnce();
  });

  it('of two strokes need both, soon', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const [go, plain] = register({ keys: 'g w' }, { keys: 'w' });
    press('w');
    expect(plain?.run).toHaveBeenCalledOnce();
    press('g');
    press('w');
    expect(go?.run).toHaveBeenCalledOnce();
    expect(plain?.run).toHaveBeenCalledOnce();
    press('g');
    vi.advanceTimersByTime(5000);
    press('w');
    expect(go?.run).toHaveBeenCalledOnce();
    expect(plain?.run).toHaveBeenCalledTimes(2);
  });

  it('are listed until they are gone', () => {
    register({ keys: 'n' }, { keys: 'x', disabled: true });
    expect(bindings().map((b) => b.keys)).toEqual(['n']);
    cleanups.pop()?.();
    expect(bindings()).toEqual([]);
  });
});
