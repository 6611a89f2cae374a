import { asAPIError } from '@/api';

/** What a hand-in says of the draft that its sender saw. */
export interface SeenDraft {
  draft_revision?: number;
}

/**
 * Sends a hand-in with the revision of the draft. While a deployment is upgraded, or set back, a server answers that
 * does not know it and takes no body that it does not know: that one gets it without, as it always did.
 */
export async function withSeen<T>(revision: number, send: (seen: SeenDraft) => Promise<T>): Promise<T> {
  try {
    return await send({ draft_revision: revision });
  } catch (cause) {
    const { status, problems } = asAPIError(cause);
    const unknown = problems.some(
      (p) => !p.field && p.path === 'draft_revision' && p.message === 'unexpected property',
    );
    if (status !== 422 || !unknown) throw cause;
    return send({});
  }
}
