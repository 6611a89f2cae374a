import type { Form } from './engine/form';
import type { Problem, Values } from './engine/types';
import { unparsedFault } from './unparsed';

/** What keeps answers from being submitted beyond the form's rules. */
export interface Hurdles {
  /** Fields whose media was played or read to its end. */
  played?: ReadonlySet<string>;
  /** Fields with a file on its way. */
  uploading?: ReadonlySet<string>;
  /** Fields with a file that did not arrive. */
  broken?: ReadonlySet<string>;
}

/** What would be submitted, or every reason why not, in form order. */
export function checkAnswers(form: Form, answers: Values, context: Values, hurdles: Hurdles = {}) {
  const checked = form.checkSubmission(answers, context);
  const problems = checked.problems ?? [];
  const shown = form.visible({ ...context, ...answers });
  const own: Problem[] = [];
  for (const field of form.fields) {
    const { name } = field;
    if (!shown[name]) continue;
    const unparsed = field.input === 'contributor' && unparsedFault(answers[name]);
    if (unparsed) own.push({ field: name, message: unparsed });
    if (hurdles.uploading?.has(name)) own.push({ field: name, message: 'A file is still on its way' });
    else if (hurdles.broken?.has(name)) {
      own.push({ field: name, message: 'A file did not arrive: try it again or take it away' });
    }
    if (field.rules?.played_fully && hurdles.played && !hurdles.played.has(name) && context[name]) {
      own.push({ field: name, message: `Please ${verb(field.type)} this to its end first` });
    }
  }
  if (own.length === 0) return checked;
  const about = new Set(own.map((p) => p.field));
  const order = new Map(form.fields.map((f, i) => [f.name, i]));
  const all = [...problems.filter((p) => !about.has(p.field)), ...own];
  const place = (p: Problem) => order.get(p.field) ?? order.size;
  return { problems: all.toSorted((a, b) => place(a) - place(b)) };
}

function verb(type: string): string {
  if (type === 'audio') return 'listen to';
  return type === 'video' ? 'watch' : 'read';
}
