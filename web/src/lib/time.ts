import { prefs } from './prefs';

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** "3 minutes ago", "in 2 hours"; now is in milliseconds. */
export function ago(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 5 ? 'in a moment' : 'just now';
}

/** The exact moment, to the second: "2026-03-01 14:05:09 UTC", in the person's zone or in UTC as they set it. */
export function absolute(at: string, zone = prefs.get().zone): string {
  const d = new Date(at);
  if (Number.isNaN(d.getTime())) return '';
  if (zone === 'utc') return `${d.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  const off = -d.getTimezoneOffset();
  const sign = off < 0 ? '-' : '+';
  const from = off === 0 ? 'UTC' : `UTC${sign}${two(Math.floor(Math.abs(off) / 60))}:${two(Math.abs(off) % 60)}`;
  return `${day} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())} ${from}`;
}

/** Only the day. */
export function day(at: string, zone = prefs.get().zone): string {
  return absolute(at, zone).slice(0, 10);
}

/** What is left of a span of milliseconds: "4:05", "1:02:09". */
export function clock(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
