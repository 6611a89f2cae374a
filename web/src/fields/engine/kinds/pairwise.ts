import { list } from '../quote';
import type { Field } from '../types';
import { member } from '../value';
import type { Kind } from './kind';
import { checkStep } from './rating';

export const pairChoices = ['a', 'b', 'tie', 'both_bad'];

/** What a pairwise may answer. */
export function choicesOf(f: Field): string[] {
  return f.choices?.length ? f.choices : pairChoices;
}

/** pairwise: {"choice", "strength"?, "shown_left"?}. */
export function pairwiseKind(f: Field): Kind {
  const choices = choicesOf(f);
  const strengths = f.scale ?? { min: 1, max: 3 };
  return {
    check(v, at) {
      if (!at.object(v, 'choice', 'strength', 'shown_left')) return;
      const choice = member(v, 'choice');
      if (choice === undefined || choice === null) at.fail(`choice is missing; expected ${list(choices)}`);
      else if (typeof choice !== 'string' || !choices.includes(choice)) at.at('choice').expect(list(choices), choice);
      const strength = member(v, 'strength') ?? null;
      if (strength !== null) checkStep(strengths, strength, at.at('strength'));
      const left = member(v, 'shown_left') ?? null;
      if (left !== null && left !== 'a' && left !== 'b') at.at('shown_left').expect('"a" or "b"', left);
    },
  };
}
