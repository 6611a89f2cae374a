const seconds: Record<string, number> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** The seconds of a span as people or Go write it: "30m", "1h30m0s", "1h 30m", "2d"; undefined when it is none. */
export function parseSpan(text: string): number | undefined {
  const s = text.trim().toLowerCase().replace(/\s+/g, '');
  if (!/^(\d+(\.\d+)?[dhms])+$/.test(s)) return undefined;
  let sum = 0;
  for (const [, n, unit] of s.matchAll(/(\d+(?:\.\d+)?)([dhms])/g)) sum += Number(n) * (seconds[unit ?? ''] ?? 0);
  return Math.round(sum);
}

/** As Go reads it, which knows no days: "36h", "1h30m", "45s". */
export function writeSpan(total: number): string {
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return [h && `${h}h`, m && `${m}m`, s && `${s}s`].filter(Boolean).join('') || '0s';
}

/** For people: "30 minutes", "1 hour 30 minutes", "90 days". */
export function spanWords(total: number): string {
  const parts: string[] = [];
  let left = total;
  for (const [name, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) parts.push(`${n} ${name}${n === 1 ? '' : 's'}`);
  }
  return parts.join(' ') || '0 seconds';
}
