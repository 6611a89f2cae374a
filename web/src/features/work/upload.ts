import { asAPIError, body, completeFile, createFile } from '@/api';
import { put } from '@/fields/upload/put';
import type { FileValue, Uploader, UploadRequest } from '@/fields/upload/uploader';
import { whileAway } from './repeat';

/** Brings files of a claim to the storage: announced, put, then checked there. */
export function uploaderOf(claimId: string): Uploader {
  // Files that are in the storage and could not be checked, with their ids: who tries one again does not send it again.
  const unchecked = new WeakMap<globalThis.File, string>();

  /** Has the file in the storage, and answers with its id. */
  async function bring({ field, file, onProgress, signal }: UploadRequest): Promise<string> {
    const known = unchecked.get(file);
    if (known) {
      onProgress(1);
      return known;
    }
    const request = { field, name: file.name, size: file.size, content_type: file.type };
    const announce = () => body(createFile({ path: { claim_id: claimId }, body: request, signal }));
    // One whose answer got lost is announced twice: the server sweeps what is never completed.
    const made = await whileAway(announce, signal);
    await put({ url: made.upload_url, headers: made.headers, file, onProgress, signal });
    return made.file_id;
  }

  return async (request): Promise<FileValue> => {
    const { file, signal } = request;
    const id = await bring(request);
    unchecked.delete(file);
    const path = { claim_id: claimId, file_id: id };
    try {
      const checked = await whileAway(() => body(completeFile({ path, signal })), signal);
      const { file_id, name, size, content_type, sha256 } = checked;
      return { file_id, name, size, content_type, sha256 };
    } catch (err) {
      // What was refused for good begins anew.
      if (asAPIError(err).transient) unchecked.set(file, id);
      throw err;
    }
  };
}
