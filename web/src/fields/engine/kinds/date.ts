import { compareMoments, type Moment, parseDate, parseDatetime } from '../moment';
import type { Field } from '../types';
import type { Kind } from './kind';

/** date, "2026-11-20", and datetime, "2026-11-20T08:00:00Z", compared as instants. */
export function dateKind(f: Field): Kind {
  const parse = f.type === 'date' ? parseDate : parseDatetime;
  const noun =
    f.type === 'date' ? 'a date that exists, as YYYY-MM-DD' : 'an RFC 3339 datetime such as 2026-11-20T08:00:00Z';
  const bound = (v: unknown): Moment | undefined => (typeof v === 'string' ? parse(v) : undefined);
  const [min, max] = [bound(f.rules?.min), bound(f.rules?.max)];
  return {
    check(v, at) {
      const moment = bound(v);
      if (!moment) at.expect(noun, v);
      else if (min && compareMoments(moment, min) < 0) at.fail(`${v} is before the earliest, ${f.rules?.min}`);
      else if (max && compareMoments(moment, max) > 0) at.fail(`${v} is after the latest, ${f.rules?.max}`);
    },
  };
}
