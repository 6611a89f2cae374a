/** An instant: whole seconds since 1970 and the nanoseconds beyond them. */
export interface Moment {
  seconds: number;
  nanos: number;
}

const dateForm = /^(\d{4})-(\d\d)-(\d\d)$/;
const datetimeForm = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|([+-])(\d\d):(\d\d))$/;

/** Reads YYYY-MM-DD of the Gregorian calendar, years 0001 to 9999. */
export function parseDate(s: string): Moment | undefined {
  const m = dateForm.exec(s);
  if (!m) return undefined;
  const [year, month, day] = [Number(m[1]), Number(m[2]), Number(m[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (year === 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return { seconds: date.getTime() / 1000, nanos: 0 };
}

/** Reads RFC 3339 with capital T and Z, seconds 00 to 59, a fraction of up to nine digits and a zone. */
export function parseDatetime(s: string): Moment | undefined {
  const m = datetimeForm.exec(s);
  const day = m && parseDate(m[1] ?? '');
  if (!m || !day) return undefined;
  const [hour, minute, second] = [Number(m[2]), Number(m[3]), Number(m[4])];
  const [zoneHour, zoneMinute] = [Number(m[8] ?? 0), Number(m[9] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const offset = (zoneHour * 60 + zoneMinute) * 60 * (m[7] === '-' ? -1 : 1);
  return {
    seconds: day.seconds + hour * 3600 + minute * 60 + second - offset,
    nanos: Number((m[5] ?? '').padEnd(9, '0')),
  };
}

/** Negative when a is before b, 0 when they are the same instant. */
export function compareMoments(a: Moment, b: Moment): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}
