import { APIError } from '@/api';

interface Put {
  url: string;
  headers: Record<string, string>;
  file: Blob;
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/** Sends a file to a presigned address. XMLHttpRequest, since fetch tells no progress of a body. */
export function put({ url, headers, file, onProgress, signal }: Put): Promise<void> {
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
    request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
    request.onloadend = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else request.send(file);
  });
}
