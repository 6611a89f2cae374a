/** One fault of a form, a definition or a body, as the server names it. */
export interface Problem {
  node?: string;
  field?: string;
  path?: string;
  message: string;
}

/** A refusal by the server, or `offline` when no answer came at all. */
export class APIError extends Error {
  constructor(
    /** HTTP status; 0 without an answer. */
    readonly status: number,
    /** Machine-readable code of the answer, `offline` without one. */
    readonly code: string,
    message: string,
    readonly problems: Problem[] = [],
    /** What an operator finds the request by in the log. */
    readonly requestId = '',
    /** Seconds to wait before another try, where the answer says so; else 0. */
    readonly retryAfter = 0,
  ) {
    super(message);
    this.name = 'APIError';
  }

  get offline(): boolean {
    return this.status === 0;
  }

  /** The server is out of reach, restarts or has too much to do: it will be back by itself. */
  get away(): boolean {
    return this.offline || [502, 503, 504].includes(this.status);
  }

  /** The same request may work later without being changed. */
  get transient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function asAPIError(err: unknown): APIError {
  if (err instanceof APIError) return err;
  const message = err instanceof Error ? err.message : String(err);
  return new APIError(-1, 'app_error', message);
}
