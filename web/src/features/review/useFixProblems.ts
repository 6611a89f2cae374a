import { useMemo } from 'react';
import type { APIError, Work } from '@/api';
import { problemText } from '@/fields/problemText';
import type { Form, Values } from '@/fields/rules';
import { unparsedFault } from '@/fields/unparsed';
import { sameValue } from '@/ui/textDiff';
import { emptied, fixes } from './notes';

/** As the server says it. */
const noEmptying = 'cannot be emptied by a correction; reject it instead';

/**
 * What is wrong with the corrections, by field: what is no correction, then the form's rules. Nothing is wrong with one
 * that `shown` has hidden: the server drops it, and nobody could mend it.
 */
export function useFixProblems(
  form: Form,
  work: Work,
  answers: Values,
  shown: Readonly<Record<string, boolean>>,
): ReadonlyMap<string, string> {
  return useMemo(() => {
    const out = new Map<string, string>();
    const fixed = fixes(answers, work.reviewed);
    if (Object.keys(fixed).length === 0) return out;
    const say = (field: string, message: string) => {
      if (!out.has(field) && shown[field] !== false) out.set(field, problemText({ field, message }));
    };
    for (const name of emptied(fixed, work.reviewed)) say(name, noEmptying);
    for (const [name, v] of Object.entries(fixed)) {
      const unparsed = unparsedFault(v);
      if (unparsed) say(name, unparsed);
    }
    const inputs = new Map(form.fields.map((f) => [f.name, f.input]));
    const submitted: Values = {};
    for (const r of work.reviewed) {
      for (const [name, v] of Object.entries(r.values)) if (inputs.get(name) === 'contributor') submitted[name] = v;
    }
    const checked = form.checkSubmission({ ...submitted, ...fixed }, work.values);
    // What the contributor left as it was is not the reviewer's to mend.
    for (const p of checked.problems ?? []) if (Object.hasOwn(fixed, p.field)) say(p.field, p.message);
    return out;
  }, [form, work, answers, shown]);
}

/** What the server said about corrections that are still as they were sent, and to be seen. */
export function refusedFixes(
  refusal: APIError,
  sent: Values,
  fixed: Values,
  shown: Readonly<Record<string, boolean>>,
): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  for (const { field, message } of refusal.problems) {
    if (!field || out.has(field) || !Object.hasOwn(fixed, field) || shown[field] === false) continue;
    if (sameValue(fixed[field], sent[field])) out.set(field, problemText({ field, message }));
  }
  return out;
}
