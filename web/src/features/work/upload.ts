import { body, completeFile, createFile } from '@/api';
import { put } from '@/fields/upload/put';
import type { FileValue, Uploader } from '@/fields/upload/uploader';

/** Brings files of a claim to the storage: announced, put, then checked there. */
export function uploaderOf(claimId: string): Uploader {
  return async ({ field, file, onProgress, signal }): Promise<FileValue> => {
    const request = { field, name: file.name, size: file.size, content_type: file.type };
    const made = await body(createFile({ path: { claim_id: claimId }, body: request, signal }));
    await put({ url: made.upload_url, headers: made.headers, file, onProgress, signal });
    const path = { claim_id: claimId, file_id: made.file_id };
    const { file_id, name, size, content_type, sha256 } = await body(completeFile({ path, signal }));
    return { file_id, name, size, content_type, sha256 };
  };
}
