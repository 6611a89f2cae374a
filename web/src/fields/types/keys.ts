import { useHotkeys } from '@/lib/hotkeys';
import { fieldLabel } from '../engine/options';
import type { Field, Option } from '../engine/types';

/** A key that picks an option, and what it is called on the sheet. */
export interface Pick {
  keys: string;
  label: string;
  run: () => void;
}

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'];

/** The keys of options: their own, else 1 to 9 and 0, then with Shift; none for what stands beyond the twentieth. */
export function optionKeys(options: readonly Option[]): (string | undefined)[] {
  const own = new Set(options.map((o) => o.hotkey?.toLowerCase()));
  const free = [...digits, ...digits.map((d) => `shift+${d}`)].map((key) => (own.has(key) ? undefined : key));
  return options.map((o, i) => o.hotkey?.toLowerCase() || free[i]);
}

/** Keys of whole steps: the number itself, with Shift from 10 to 19; by position where there are others. */
export function stepKeys(steps: readonly number[]): (string | undefined)[] {
  if (steps.every((n) => n >= 0 && n <= 19)) return steps.map((n) => (n <= 9 ? String(n) : `shift+${n - 10}`));
  return steps.map((_, i) => digits[i]);
}

/** Makes the keys work while the field is the one that keys go to. */
export function useFieldKeys(on: boolean | undefined, field: Field, picks: readonly Pick[]) {
  const group = `Field “${fieldLabel(field)}”`;
  useHotkeys(on ? picks.map((p) => ({ ...p, group })) : []);
}
