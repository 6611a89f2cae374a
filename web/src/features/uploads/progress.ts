import type { Upload, UploadDetail } from '@/api';
import { isOver } from './queries';

/** How far an upload is, 0 to 100; null when nobody can say yet. */
export function share(u: Upload): number | null {
  if (u.status === 'completed') return 100;
  if (u.status === 'pending') return 0;
  if (u.rows_total > 0) return Math.min(100, (u.rows_done / u.rows_total) * 100);
  if (u.bytes_total > 0) return Math.min(100, (u.bytes_done / u.bytes_total) * 100);
  return null;
}

/** Where it stands, in one sentence. */
export function stage(u: Upload): string {
  const n = (x: number) => x.toLocaleString('en');
  switch (u.status) {
    case 'pending':
      return 'Waits for its archive to arrive and to be confirmed.';
    case 'processing': {
      if (u.cancel_requested) return 'Is being cancelled; tasks made so far stay.';
      const rows = u.rows_total > 0 ? `${n(u.rows_done)} of ${n(u.rows_total)} rows` : 'Reading the archive';
      return u.bytes_total > 0 ? `${rows}, ${size(u.bytes_done)} of ${size(u.bytes_total)} of files` : rows;
    }
    default:
      return u.message || finished(u);
  }
}

function finished(u: Upload): string {
  if (u.status !== 'completed') return '';
  const n = u.success_count.toLocaleString('en');
  if (u.error_count === 0) return `Done: ${n} ${u.success_count === 1 ? 'task' : 'tasks'} created.`;
  return `Done: ${n} created, ${u.error_count.toLocaleString('en')} ${u.error_count === 1 ? 'row' : 'rows'} refused.`;
}

/** Which of its errors are shown. The server lists the first only, and more of them once the upload has ended. */
export function place(u: UploadDetail, from: number, to: number): string {
  const n = (x: number) => x.toLocaleString('en');
  const shown = `${from} to ${to} of ${n(u.errors.length)}`;
  const rows = new Set(u.errors.map((e) => e.index)).size; // one row may have several
  if (u.error_count <= rows) return `${shown}.`;
  const more = isOver(u) ? '' : '; more are listed once the upload has ended';
  return `${shown}, of the first ${n(rows)} of ${n(u.error_count)} refused rows${more}.`;
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Bytes as people say them: 1.4 MB. */
export function size(bytes: number): string {
  let [v, i] = [bytes, 0];
  while (v >= 1000 && i < units.length - 1) {
    v /= 1000;
    i++;
  }
  return `${i === 0 || v >= 100 ? Math.round(v) : v.toFixed(1)} ${units[i]}`;
}
