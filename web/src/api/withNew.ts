import { asAPIError } from './errors';

/**
 * Sends a body with properties that are new in this release. While a deployment is upgraded, or set back, a server
 * answers that does not know them and takes no body that it does not know: that one gets it without, as it always did.
 */
export async function withNew<P extends object, T>(added: P, send: (added: Partial<P>) => Promise<T>): Promise<T> {
  try {
    return await send(added);
  } catch (cause) {
    const { status, problems } = asAPIError(cause);
    const unknown = problems.some(
      (p) => !p.field && Object.hasOwn(added, p.path ?? '') && p.message === 'unexpected property',
    );
    if (status !== 422 || !unknown) throw cause;
    return send({});
  }
}
