import { APIError } from '@/api';

interface Put {
  url: string;
  headers: Record<string, string>;
  file: Blob;
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/**
 * Answers of a storage that another try may not get: something else was done to the same place, too much came at a time, or it failed by
 * itself (Amazon S3 API reference, "Error responses").
 */
const passing = new Set([409, 429, 500, 502, 503, 504]);

/** How long to wait before each further try, in milliseconds. */
const waits = [500, 2000];

/** Sends a file to a presigned address, again where the storage refuses it for a reason that passes. */
export async function put(request: Put): Promise<void> {
  for (const wait of waits) {
    try {
      return await send(request);
    } catch (error) {
      if (!(error instanceof APIError && passing.has(error.status))) throw error;
    }
    request.onProgress(0);
    await pause(wait, request.signal);
  }
  return send(request);
}

const cancelled = () => new DOMException('The upload was cancelled.', 'AbortError');

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(cancelled());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** One try. XMLHttpRequest, since fetch tells no progress of a body. */
function send({ url, headers, file, onProgress, signal }: Put): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const fail = (message: string, status = 0) => reject(new APIError(status, 'upload_failed', message));
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (e) => e.lengthComputable && onProgress(e.loaded / e.total);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else fail(`The storage refused the file (status ${request.status}). Try again.`, request.status);
    };
    request.onerror = () => fail('The connection to the storage broke. Try again.');
    request.onabort = () => reject(cancelled());
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else request.send(file);
  });
}
