import { list, plural, quote, quoteLimit } from './quote';
import type { Problem } from './types';
import { isObject, show } from './value';

/** The most problems that one value reports. */
export const maxProblems = 20;

/** What is known of other fields. A field of this form or before it that has no value is undefined. */
export type Lookup = (name: string) => unknown;

interface Report {
  field: string;
  find: Lookup;
  problems: Problem[];
}

/** Where in a field's value a check is: the whole, a member, an element. */
export class Place {
  private constructor(
    private readonly report: Report,
    private readonly pointer: string,
  ) {}

  static of(field: string, find: Lookup): Place {
    return new Place({ field, find, problems: [] }, '');
  }

  get problems(): Problem[] {
    return this.report.problems;
  }

  /** No further problem is kept, so that a long value can be left. */
  get full(): boolean {
    return this.report.problems.length >= maxProblems;
  }

  find(name: string): unknown {
    return this.report.find(name);
  }

  fail(message: string) {
    if (this.full) return;
    const problem: Problem = { field: this.report.field, message };
    if (this.pointer) problem.path = this.pointer;
    this.report.problems.push(problem);
  }

  expect(what: string, got: unknown) {
    this.fail(`expected ${what}, got ${show(got)}`);
  }

  at(key: string): Place {
    const step = key
      .slice(0, 4 * quoteLimit)
      .replaceAll('~', '~0')
      .replaceAll('/', '~1');
    return new Place(this.report, `${this.pointer}/${step}`);
  }

  item(i: number): Place {
    return new Place(this.report, `${this.pointer}/${i}`);
  }

  /** Checks a number of things against inclusive bounds. */
  count(n: number, least: number | undefined, most: number | undefined, one: string, many: string) {
    if (most !== undefined && n > most) this.fail(`has ${plural(n, one, many)}, at most ${most} allowed`);
    if (least !== undefined && n < least) this.fail(`has ${plural(n, one, many)}, at least ${least} needed`);
  }

  /** Checks for an object with no other keys. */
  object(v: unknown, ...keys: string[]): boolean {
    if (!isObject(v)) {
      this.expect(`an object with ${list(keys)}`, v);
      return false;
    }
    const unknown = Object.keys(v).find((key) => !keys.includes(key));
    if (unknown === undefined) return true;
    this.fail(`unknown key ${quote(unknown)}; expected ${list(keys)}`);
    return false;
  }
}
