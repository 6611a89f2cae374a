import { useMemo } from 'react';
import { asAPIError, type Work } from '@/api';
import { problemText } from '@/fields/problemText';
import type { Form, Values } from '@/fields/rules';
import { unparsedText } from '@/fields/unparsed';
import { emptied, fixes } from './notes';

/** As the server says it. */
const noEmptying = 'cannot be emptied by a correction; reject it instead';

/** What is wrong with the corrections, by field: what is no correction, the form's rules, then what the server refused. */
export function useFixProblems(form: Form, work: Work, answers: Values, refusal: unknown): ReadonlyMap<string, string> {
  return useMemo(() => {
    const out = new Map<string, string>();
    const fixed = fixes(answers, work.reviewed);
    if (Object.keys(fixed).length === 0) return out;
    const say = (field: string, message: string) => {
      if (!out.has(field)) out.set(field, problemText({ field, message }));
    };
    for (const name of emptied(fixed, work.reviewed)) say(name, noEmptying);
    for (const [name, v] of Object.entries(fixed)) {
      if (unparsedText(v) !== undefined) say(name, 'This is not valid JSON');
    }
    const inputs = new Map(form.fields.map((f) => [f.name, f.input]));
    const submitted: Values = {};
    for (const r of work.reviewed) {
      for (const [name, v] of Object.entries(r.values)) if (inputs.get(name) === 'contributor') submitted[name] = v;
    }
    const checked = form.checkSubmission({ ...submitted, ...fixed }, work.values);
    // What the contributor left as it was is not the reviewer's to mend.
    for (const p of checked.problems ?? []) if (Object.hasOwn(fixed, p.field)) say(p.field, p.message);
    if (refusal) {
      for (const p of asAPIError(refusal).problems) {
        if (p.field && Object.hasOwn(fixed, p.field)) say(p.field, p.message);
      }
    }
    return out;
  }, [form, work, answers, refusal]);
}
