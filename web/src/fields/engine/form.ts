import { compileCondition, type Test } from './condition';
import { bytes } from './count';
import { Env } from './env';
import { newKind } from './kinds';
import type { Kind } from './kinds/kind';
import { normalField } from './options';
import { maxProblems, Place } from './place';
import { plural, quote } from './quote';
import { jsonBytes, maxValueBytes, sizeFault, storeFault } from './storable';
import type { Field, Problem, Values } from './types';
import { empty, equal, normalValue, shapeOf, show } from './value';

/** What is to be stored, or why nothing is. */
export type Submission = { kept: Values; problems?: undefined } | { kept?: undefined; problems: Problem[] };

interface Compiled {
  field: Field;
  kind: Kind;
  /** undefined: always visible. */
  when?: Test;
}

const filled: Record<string, string> = {
  seeded: 'it is given when a task is created',
  static: 'its value is fixed in the form',
  llm: 'a language model fills it in',
};

/** A compiled list of fields: the twin of internal/form's Form. Immutable. */
export class Form {
  readonly fields: readonly Field[];
  private readonly compiled = new Map<string, Compiled>();
  private readonly order = new Map<string, number>();
  private readonly fixed: Values = {};

  /** Of several fields with one name, the first one counts. */
  constructor(fields: readonly Field[]) {
    this.fields = fields.map(normalField);
    for (const field of this.fields) {
      if (this.compiled.has(field.name)) continue;
      const when = field.visible_when ? compileCondition(field.visible_when) : undefined;
      this.order.set(field.name, this.compiled.size);
      this.compiled.set(field.name, { field, kind: newKind(field), when });
      if (field.input === 'static') this.fixed[field.name] = field.value;
    }
  }

  /** The values of static fields, which a context need not repeat. */
  get statics(): Values {
    return this.fixed;
  }

  /** For every field whether it is shown. A hidden field is empty to the conditions of later ones. */
  visible(context: Values): Record<string, boolean> {
    return this.decide(new Env([context, this.fixed]));
  }

  private decide(env: Env): Record<string, boolean> {
    const shown: Record<string, boolean> = {};
    let i = 0;
    for (const [name, { when }] of this.compiled) {
      const at = i++;
      const earlier = (other: string) => ((this.order.get(other) ?? -1) >= at ? undefined : env.field(other));
      shown[name] = when?.(earlier) ?? true;
      if (!shown[name]) env.hidden.add(name);
    }
    return shown;
  }

  /**
   * Checks what a contributor would submit: the answers to this form, beside all other known values. Hidden fields are
   * stripped, empty answers dropped. Problems come in form order, refused names last.
   */
  checkSubmission(submitted: Values, context: Values): Submission {
    const faults = new Map<string, string>();
    const own: Values = {};
    for (const { field } of this.contributed()) {
      const raw = Object.hasOwn(submitted, field.name) ? submitted[field.name] : undefined;
      const fault = readFault(field, raw);
      if (fault) faults.set(field.name, fault);
      own[field.name] = fault ? null : raw;
    }
    const env = new Env([own, context, this.fixed]);
    const shown = this.decide(env);
    const kept: Values = {};
    const problems: Problem[] = [];
    for (const { field, kind } of this.contributed()) {
      const name = field.name;
      if (!shown[name]) continue;
      const fault = faults.get(name);
      if (fault || !unanswered(field, own[name])) {
        problems.push(...validate(field, kind, own[name], fault, env));
        kept[name] = field.type === 'json' ? submitted[name] : normalValue(submitted[name]);
      } else if (field.required && !kind.pointless?.(env.field)) {
        problems.push(missing(field, submitted));
      }
    }
    problems.push(...this.notSubmittable(submitted));
    return problems.length > 0 ? { problems } : { kept };
  }

  /** Refuses of a draft only what cannot be kept. */
  checkDraft(submitted: Values): Problem[] {
    const entries = Object.entries(submitted);
    const size = entries.reduce((n, [name, v]) => n + bytes(name) + jsonBytes(v), 0);
    if (size > maxValueBytes) {
      return [{ field: '', message: `the draft has ${size} bytes, at most ${maxValueBytes} are kept` }];
    }
    const faults = new Map<string, string>();
    for (const [name, v] of entries) {
      const fault = storeFault(v);
      if (!this.compiled.has(name)) faults.set(name, `unknown field ${quote(name)}`);
      else if (fault) faults.set(name, `the value ${fault}`);
    }
    return refused([...faults.keys()], (name) => faults.get(name) ?? '');
  }

  private contributed(): Compiled[] {
    return [...this.compiled.values()].filter(({ field }) => field.input === 'contributor');
  }

  private notSubmittable(submitted: Values): Problem[] {
    const input = (name: string) => this.compiled.get(name)?.field.input;
    const names = Object.keys(submitted).filter((name) => input(name) !== 'contributor');
    return refused(names, (name) => {
      const by = input(name);
      return by ? `field ${quote(name)} cannot be submitted: ${filled[by] ?? by}` : `unknown field ${quote(name)}`;
    });
  }
}

function readFault(field: Field, raw: unknown): string {
  if (raw === undefined) return '';
  const most = field.type === 'json' ? Math.min(maxValueBytes, field.rules?.max_bytes ?? maxValueBytes) : maxValueBytes;
  const fault = sizeFault(raw, most);
  if (fault) return fault;
  const store = storeFault(raw);
  return store && `the value ${store}`;
}

/** Any value but null answers a json field. */
function unanswered(field: Field, v: unknown): boolean {
  return field.type === 'json' ? shapeOf(v) === 'null' : empty(v);
}

function validate(field: Field, kind: Kind, v: unknown, fault: string | undefined, env: Env): Problem[] {
  const at = Place.of(field.name, env.field);
  if (fault) {
    at.fail(fault);
    return at.problems;
  }
  kind.check(v, at);
  const other = field.rules?.equals_field;
  if (other && !equal(env.field(other), v)) {
    at.fail(`must equal the value of field ${quote(other)}, got ${show(v)}`);
  }
  return at.problems;
}

function missing(field: Field, submitted: Values): Problem {
  const name = quote(field.name);
  let message = `field ${name} is required and missing`;
  if (Object.hasOwn(submitted, field.name)) {
    const got = submitted[field.name] === null ? 'null' : 'an empty value';
    message = `field ${name} is required, got ${got}`;
  }
  return { field: field.name, message };
}

/** Names that must not be given, in byte order; of many only the first, and how many more there are. */
function refused(names: string[], why: (name: string) => string): Problem[] {
  const sorted = names.toSorted(byBytes);
  const problems: Problem[] = sorted.slice(0, maxProblems).map((name) => ({ field: name, message: why(name) }));
  const more = sorted.length - maxProblems;
  if (more > 0)
    problems.push({ field: '', message: `${plural(more, 'more name', 'more names')} that cannot be given` });
  return problems;
}

/** By code points, which is the order of UTF-8 bytes. */
function byBytes(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = (x[i]?.codePointAt(0) ?? 0) - (y[i]?.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return x.length - y.length;
}
