import { normalText } from '../count';
import type { Place } from '../place';
import { list, quote } from '../quote';
import { maxValueBytes } from '../storable';
import type { Field } from '../types';
import { empty, itemsOf, member, show } from '../value';
import type { Kind } from './kind';

interface Reach {
  start: number;
  end: number;
  /** In the value. */
  index: number;
}

/** text_spans: [{"start", "end", "label", "text"?}], offsets in code points of the source's text, end excluded. */
export function spansKind(f: Field): Kind {
  const labels = (f.labels ?? []).map((l) => l.value);
  return {
    check(v, at) {
      if (!Array.isArray(v)) {
        at.expect('an array of spans', v);
        return;
      }
      at.count(v.length, f.rules?.min_items, f.rules?.max_items, 'span', 'spans');
      const source = at.find(f.source ?? '');
      const points = [...normalText(typeof source === 'string' ? source : '')];
      const reaches: Reach[] = [];
      for (const [i, span] of itemsOf(v).entries()) {
        if (at.full) return;
        const reach = checkSpan(span, at.item(i), points, labels, f.source ?? '');
        if (reach) reaches.push({ ...reach, index: i });
      }
      if (!f.allow_overlap) overlaps(reaches, at);
    },
    pointless: (find) => empty(find(f.source ?? '')),
  };
}

function overlaps(reaches: Reach[], at: Place) {
  reaches.sort((a, b) => a.start - b.start);
  let widest: Reach = { start: 0, end: 0, index: 0 };
  for (const r of reaches) {
    if (r.start < widest.end) {
      at.item(r.index).fail(`overlaps span ${widest.index}, which goes from ${widest.start} to ${widest.end}`);
    }
    if (r.end > widest.end) widest = r;
  }
}

function checkSpan(v: unknown, at: Place, points: string[], labels: string[], source: string) {
  if (!at.object(v, 'start', 'end', 'label', 'text')) return undefined;
  const label = member(v, 'label');
  if (typeof label !== 'string' || !labels.includes(label)) at.at('label').expect(`the label ${list(labels)}`, label);
  const said = member(v, 'text') ?? null;
  if (said !== null && typeof said !== 'string') at.at('text').expect('the marked text', said);
  const start = offset(v, 'start', at);
  const end = offset(v, 'end', at);
  if (start === undefined || end === undefined) return undefined;
  if (end <= start) {
    at.at('end').fail(`end ${end} must be more than start ${start}`);
    return undefined;
  }
  if (end > points.length) {
    at.at('end').fail(`end ${end} is beyond the ${points.length} characters of field ${quote(source)}`);
    return undefined;
  }
  if (typeof said === 'string') {
    const there = points.slice(start, end).join('');
    if (normalText(said) !== there) {
      const where = `from ${start} to ${end} in field ${quote(source)}`;
      at.at('text').fail(`text ${show(said)} is not what stands ${where}: ${quote(there)}`);
    }
  }
  return { start, end };
}

function offset(v: unknown, key: string, at: Place): number | undefined {
  const n = member(v, key);
  if (Number.isInteger(n) && (n as number) >= 0 && (n as number) <= maxValueBytes) return n as number;
  at.at(key).expect('an offset in characters, counted from 0', n);
  return undefined;
}
