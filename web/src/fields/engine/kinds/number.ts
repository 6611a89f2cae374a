import type { Field } from '../types';
import { numberText, show } from '../value';
import type { Kind } from './kind';

/** A rule's number, undefined when there is none. */
export function numeral(v: unknown): number | undefined {
  return typeof v === 'number' ? v : undefined;
}

/** number and integer: compared as a float64, which is exact up to 15 significant digits. */
export function numberKind(f: Field): Kind {
  const rules = f.rules ?? {};
  const [min, max, step] = [numeral(rules.min), numeral(rules.max), numeral(rules.step)];
  const base = min ?? 0;
  return {
    check(v, at) {
      if (typeof v !== 'number') {
        at.expect(f.type === 'integer' ? 'an integer' : 'a number', v);
        return;
      }
      if (f.type === 'integer' && !Number.isSafeInteger(v)) {
        at.expect('an integer between -(2^53-1) and 2^53-1', v);
        return;
      }
      if (min !== undefined && v < min) at.fail(`${show(v)} is less than the minimum ${numberText(min)}`);
      else if (max !== undefined && v > max) at.fail(`${show(v)} is more than the maximum ${numberText(max)}`);
      if (step !== undefined && !onStep(v, base, step)) {
        at.fail(`${show(v)} is not on a step: expected ${numberText(base)} plus a multiple of ${numberText(step)}`);
      }
      if (rules.decimals !== undefined && !onStep(v, 0, 10 ** -rules.decimals)) {
        at.fail(`${show(v)} has too many digits after the point, at most ${rules.decimals} allowed`);
      }
    },
  };
}

/** n is base plus a multiple of step, within a billionth of a step or what float64 loses in n and base. */
function onStep(n: number, base: number, step: number): boolean {
  const q = (n - base) / step;
  if (step <= 0 || !Number.isFinite(q)) return true;
  const tolerance = Math.max(1e-9, (1e-15 * (Math.abs(n) + Math.abs(base))) / step);
  return Math.abs(q - Math.round(q)) <= tolerance;
}
