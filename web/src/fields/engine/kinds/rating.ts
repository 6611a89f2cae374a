import type { Place } from '../place';
import { list, quote } from '../quote';
import type { Field, Scale } from '../types';
import { isObject, member } from '../value';
import type { Kind } from './kind';
import { numeral } from './number';

const [lowest, highest] = [-10, 100];

/** The scale of a rating or likert, 1 to 5 unless told; a rating may give its ends as rules min and max instead. */
export function scaleOf(f: Field): Scale {
  const scale = { ...(f.scale ?? { min: 1, max: 5 }) };
  const clamp = (n: number) => Math.trunc(Math.max(lowest - 1, Math.min(highest + 1, n)));
  const [min, max] = [numeral(f.rules?.min), numeral(f.rules?.max)];
  if (min !== undefined) scale.min = clamp(min);
  if (max !== undefined) scale.max = clamp(max);
  return scale;
}

/** The label of a step: one for each, or only for the two ends. */
export function stepLabel(scale: Scale, step: number): string {
  const labels = scale.labels ?? [];
  if (labels.length === 2) return (step === scale.min ? labels[0] : step === scale.max ? labels[1] : '') ?? '';
  return labels[step - scale.min] ?? '';
}

function noun(s: Scale): string {
  return s.half ? `a number from ${s.min} to ${s.max} in steps of 0.5` : `an integer from ${s.min} to ${s.max}`;
}

/** Reports a value that is not a step of the scale. */
export function checkStep(s: Scale, v: unknown, at: Place) {
  const whole = typeof v === 'number' && Number.isInteger(s.half ? v * 2 : v);
  if (!whole || (v as number) < s.min || (v as number) > s.max) at.expect(noun(s), v);
}

/** rating: a step of the scale. */
export function ratingKind(f: Field): Kind {
  const scale = scaleOf(f);
  return { check: (v, at) => checkStep(scale, v, at) };
}

/** likert: {"row_id": 3} for every row, or "na" where that is allowed. */
export function likertKind(f: Field): Kind {
  const scale = scaleOf(f);
  const ids = (f.rows ?? []).map((row) => row.value);
  return {
    check(v, at) {
      if (!isObject(v)) {
        at.expect('an object with a rating for each row', v);
        return;
      }
      for (const key of Object.keys(v)) {
        if (at.full) return;
        if (!ids.includes(key)) at.fail(`unknown row ${quote(key)}; expected ${list(ids)}`);
      }
      for (const id of ids) {
        const answer = member(v, id);
        if (answer === undefined || answer === null) {
          at.fail(`row ${quote(id)} is not answered; every row needs ${noun(scale)}`);
        } else if (!(scale.allow_na && answer === 'na')) {
          checkStep(scale, answer, at.at(id));
        }
      }
    },
  };
}
