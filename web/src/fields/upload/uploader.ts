import { createContext, useContext } from 'react';

/** The value of a file_upload field. */
export interface FileValue {
  file_id: string;
  name: string;
  /** In bytes. */
  size: number;
  content_type?: string;
  sha256?: string;
}

export interface UploadRequest {
  field: string;
  file: globalThis.File;
  /** From 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
}

/** Brings a file to the storage and answers with the field's value. */
export type Uploader = (request: UploadRequest) => Promise<FileValue>;

const Context = createContext<Uploader | null>(null);
export const UploaderProvider = Context.Provider;

/** null where nothing can be uploaded, as in a preview or a review. */
export function useUploader(): Uploader | null {
  return useContext(Context);
}
