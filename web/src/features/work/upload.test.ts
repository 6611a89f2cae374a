import { afterEach, expect, test, vi } from 'vitest';
import { put } from '@/fields/upload/put';
import type { Uploader } from '@/fields/upload/uploader';
import { consoleAPI, Refused } from '@/testing/claimPage';
import { uploaderOf } from './upload';

vi.mock('@/fields/upload/put', () => ({ put: vi.fn(async () => {}) }));

afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

const value = { file_id: 'f1', name: 'proof.txt', size: 7, content_type: 'text/plain', sha256: 'aa' };
const announced = { file_id: 'f1', upload_url: 'http://store.test/f1', headers: {}, expires_at: '' };

/** A server that refuses so many of its first requests of a kind; it counts all of them. */
function server(refuses: { announce?: number; complete?: number }, status: number) {
  const asked = { announce: 0, complete: 0 };
  const meet = (what: keyof typeof asked, answer: object) => {
    asked[what] += 1;
    if (asked[what] <= (refuses[what] ?? 0)) throw new Refused(status);
    return answer;
  };
  consoleAPI({
    'POST /claims/c1/files': () => meet('announce', announced),
    'POST /claims/c1/files/f1/complete': () => meet('complete', value),
  });
  return asked;
}

const file = new File(['seven b'], 'proof.txt', { type: 'text/plain' });
const send = (upload: Uploader, onProgress = (_: number) => {}) =>
  upload({ field: 'proof', file, onProgress, signal: new AbortController().signal });

test.each([503, 0])('a server that is away (%i) is asked again, and the file is sent once', async (status) => {
  const asked = server({ announce: 1, complete: 1 }, status);
  expect(await send(uploaderOf('c1'))).toEqual(value);
  expect(asked).toEqual({ announce: 2, complete: 2 });
  expect(put).toHaveBeenCalledOnce();
});

test('a file that arrived and could not be checked is only checked when it is tried again', async () => {
  const asked = server({ complete: 1 }, 500);
  const upload = uploaderOf('c1');
  await expect(send(upload)).rejects.toMatchObject({ status: 500 });
  const progress = vi.fn();
  expect(await send(upload, progress)).toEqual(value);
  expect(progress).toHaveBeenCalledWith(1);
  expect(asked).toEqual({ announce: 1, complete: 2 });
  expect(put).toHaveBeenCalledOnce();
});

test('a file that was refused is sent again when it is tried again', async () => {
  const asked = server({ complete: 1 }, 422);
  const upload = uploaderOf('c1');
  await expect(send(upload)).rejects.toMatchObject({ status: 422 });
  expect(await send(upload)).toEqual(value);
  expect(asked).toEqual({ announce: 2, complete: 2 });
  expect(put).toHaveBeenCalledTimes(2);
});
