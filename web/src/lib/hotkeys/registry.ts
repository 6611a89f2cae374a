import { prefs } from '@/lib/prefs';
import { isSingle, matches, type Stroke, strokesOf } from './keys';

/** A shortcut of the page that is open. It is listed on the sheet that `?` opens. */
export interface Binding {
  /** "mod+Enter", "g", "?", "shift+1", "Escape", "Space"; "g w" is one after the other. */
  keys: string;
  /** What it does, as on the control: "Submit". */
  label: string;
  /** Heading on the sheet. */
  group: string;
  /** Returning false passes the key on, as if there were no binding. */
  run: (event: KeyboardEvent) => unknown;
  /** Also while typing. Keys that type something never count there. */
  allowInInput?: boolean;
  /** Also while the focus is in a dialog or menu, or a dialog lies over the page. */
  inDialog?: boolean;
  /** Also when the key is held down. */
  repeat?: boolean;
  /** Governed by the setting for single-character shortcuts; by default what types a character is. */
  single?: boolean;
  disabled?: boolean;
  /** Works, but is not on the sheet. */
  hidden?: boolean;
}

type Layer = { readonly current: readonly Binding[] };
/** With the rank of each: the highest comes first. */
const layers = new Map<Layer, number>();
let highest = 0;

/** A rank above all that were given. */
export function nextRank(): number {
  highest += 1;
  return highest;
}

export function addLayer(layer: Layer, rank = nextRank()): () => void {
  layers.set(layer, rank);
  return () => layers.delete(layer);
}

/** Every binding that works now, those of the page before those of the frame. */
export function bindings(): Binding[] {
  const ranked = [...layers].toSorted(([, a], [, b]) => b - a);
  return ranked.flatMap(([layer]) => layer.current.filter((b) => !b.disabled));
}

export function governed(b: Pick<Binding, 'keys' | 'single'>): boolean {
  return b.single ?? isSingle(b.keys);
}

const typingTypes = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file', 'image']);

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !typingTypes.has(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable ||
    target.closest('[contenteditable=""],[contenteditable="true"]') !== null
  );
}

/** Where arrows go to another choice or tab, or along a slider or a recording; a box to tick takes none. */
const moved = 'input:not([type="checkbox"]),select,audio,video,[role="radiogroup"],[role="slider"],[role="tab"]';

/** Whether the key moves what has the focus: an arrow, but among choices one of which says that it is its shortcut. */
function moves(keys: string, target: HTMLElement): boolean {
  if (!keys.startsWith('Arrow') || !target.closest(moved)) return false;
  return !target.closest('[role="radiogroup"]')?.querySelector(`[aria-keyshortcuts="${keys}"]`);
}

const apart = '[role="dialog"],[role="alertdialog"],[role="menu"],[role="listbox"]';

/** Whether the page rests beneath a dialog. A click beside the dialog takes the focus out of it, and opens nothing beneath. */
export function modalIsOpen(): boolean {
  return document.querySelector('[aria-modal="true"]') !== null;
}

/** Whether the binding may act on a key that was pressed there. */
export function applies(b: Binding, target: EventTarget | null, singleKeys: boolean): boolean {
  const single = governed(b);
  if (single && !singleKeys) return false;
  if (!(target instanceof HTMLElement)) return true;
  if (isTyping(target) && (single || !b.allowInInput)) return false;
  if (!b.inDialog && (target.closest(apart) || modalIsOpen())) return false;
  if (moves(b.keys, target)) return false;
  // Enter and Space press what has the focus.
  if (
    (b.keys === 'Enter' || b.keys === 'Space') &&
    target.closest('button,a[href],summary,[role="button"],[role="link"]')
  )
    return false;
  return true;
}

/** The first stroke of a shortcut of two, while the second is awaited. */
let begun: { stroke: string; until: number } | null = null;
const secondStrokeMs = 1500;

/** Whether the stroke completes the binding's keys. */
function completes(b: Binding, stroke: Stroke, first: string | null): boolean {
  const [one = '', two] = strokesOf(b.keys);
  if (two === undefined) return first === null && matches(one, stroke);
  return first === one && matches(two, stroke);
}

function onKeyDown(e: KeyboardEvent) {
  if (e.defaultPrevented || e.isComposing || e.key === undefined) return;
  const stroke = {
    key: e.key,
    code: e.code,
    ctrlKey: e.ctrlKey,
    metaKey: e.metaKey,
    altKey: e.altKey,
    shiftKey: e.shiftKey,
    altGraph: e.getModifierState?.('AltGraph'),
  };
  if (e.key === 'Shift' || e.key === 'Control' || e.key === 'Alt' || e.key === 'Meta') return;
  const first = begun && performance.now() < begun.until ? begun.stroke : null;
  begun = null;
  if (first !== null && act(e, stroke, first)) return;
  if (act(e, stroke, null)) return;
  const two = bindings().find((b) => {
    const [one = '', second] = strokesOf(b.keys);
    return second !== undefined && matches(one, stroke) && applies(b, e.target, prefs.get().singleKeys);
  });
  if (two) begun = { stroke: strokesOf(two.keys)[0] ?? '', until: performance.now() + secondStrokeMs };
}

function act(e: KeyboardEvent, stroke: Stroke, first: string | null): boolean {
  for (const b of bindings()) {
    if (e.repeat && !b.repeat) continue;
    if (!completes(b, stroke, first) || !applies(b, e.target, prefs.get().singleKeys)) continue;
    if (b.run(e) === false) continue;
    e.preventDefault();
    return true;
  }
  return false;
}

if (typeof window !== 'undefined') window.addEventListener('keydown', onKeyDown);
