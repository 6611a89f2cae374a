import { blank, chars, normalText } from '../count';
import type { Place } from '../place';
import { list, quote } from '../quote';
import type { Field } from '../types';
import { member, show } from '../value';
import type { Kind } from './kind';

/** What a file_upload takes: extensions (".pdf") and media types ("image/*"); everything when empty. */
export function acceptOf(f: Field): string[] {
  return f.accept?.length ? f.accept : (f.rules?.accept ?? []);
}

/** file_upload: {"file_id", "name", "size", "content_type"?, "sha256"?}, an array of these when multiple. */
export function uploadKind(f: Field): Kind {
  const accept = acceptOf(f);
  const most = f.rules?.max_bytes;

  const file = (v: unknown, at: Place) => {
    if (!at.object(v, 'file_id', 'name', 'size', 'content_type', 'sha256')) return;
    checkLabel(v, 'file_id', 200, at);
    const name = checkLabel(v, 'name', 255, at);
    const size = member(v, 'size');
    if (!Number.isSafeInteger(size) || (size as number) < 0) at.at('size').expect('the size in bytes', size);
    else if (most !== undefined && (size as number) > most) {
      at.at('size').fail(`the file has ${show(size)} bytes, at most ${most} allowed`);
    }
    const type = member(v, 'content_type') ?? null;
    if (type !== null && typeof type !== 'string') at.at('content_type').expect('a media type', type);
    const sum = member(v, 'sha256') ?? null;
    if (sum !== null && !/^[0-9a-f]{64}$/.test(String(sum))) at.at('sha256').expect('64 lower-case hex digits', sum);
    if (name && !accepted(accept, name, typeof type === 'string' ? type : '')) {
      at.fail(`the file ${quote(name)} is not accepted; expected ${list(accept)}`);
    }
  };

  return {
    check(v, at) {
      if (!f.multiple) {
        file(v, at);
        return;
      }
      if (!Array.isArray(v)) {
        at.expect('an array of files', v);
        return;
      }
      at.count(v.length, f.rules?.min_items, f.rules?.max_items, 'file', 'files');
      for (const [i, item] of v.entries()) {
        if (at.full) return;
        file(item, at.item(i));
      }
    },
  };
}

/** Reads a text of a file that must not be blank. */
function checkLabel(v: unknown, key: string, most: number, at: Place): string {
  const s = member(v, key);
  if (typeof s === 'string' && !blank(s) && chars(normalText(s)) <= most) return s;
  at.at(key).expect(`a text of 1 to ${most} characters`, s);
  return '';
}

/** Whether a file of that name and media type is on the list; everything is on an empty one. */
export function accepted(accept: readonly string[], name: string, contentType: string): boolean {
  if (accept.length === 0) return true;
  const base = name.slice(name.lastIndexOf('/') + 1);
  const ext = base.includes('.') ? base.slice(base.lastIndexOf('.')).toLowerCase() : '';
  const type = (contentType.toLowerCase().split(';')[0] ?? '').trim();
  return accept.some((entry) => {
    const a = entry.toLowerCase();
    if (a.startsWith('.') && ext === a) return true;
    return type === a || (type !== '' && a.endsWith('*') && type.startsWith(a.slice(0, -1)));
  });
}
