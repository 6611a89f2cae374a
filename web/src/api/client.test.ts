import { afterEach, expect, test, vi } from 'vitest';
import { body, getClaim, submitClaim } from '.';
import { client } from './gen/client.gen';

afterEach(() => vi.unstubAllGlobals());

/** A server whose answer begins well and ends in the middle. */
function breaksOff(headers: Record<string, string> = {}) {
  client.setConfig({ baseUrl: 'http://taskloom.test/api/console' });
  vi.stubGlobal('fetch', async () => {
    const halves = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"claim_id":'));
        controller.error(new TypeError('network error'));
      },
    });
    return new Response(halves, { headers: { 'Content-Type': 'application/json', ...headers } });
  });
}

test.each<Record<string, string>>([{}, { ETag: '"1"' }])(
  'an answer that breaks off is no answer (%o)',
  async (headers) => {
    breaksOff(headers);
    const path = { claim_id: 'c1' };
    // Handed in or not, nobody knows: it is sent again, which a refusal is not.
    await expect(body(submitClaim({ path, body: { values: {} } }))).rejects.toMatchObject({
      status: 0,
      transient: true,
    });
    await expect(body(getClaim({ path }))).rejects.toMatchObject({ status: 0, transient: true });
  },
);

test('an answer without a body is one', async () => {
  client.setConfig({ baseUrl: 'http://taskloom.test/api/console' });
  // Browsers give it an empty stream, from which no other answer of this status can be made.
  const empty = () =>
    Object.defineProperty(new Response(null, { status: 204 }), 'body', { value: new ReadableStream() });
  vi.stubGlobal('fetch', async () => empty());
  await expect(getClaim({ path: { claim_id: 'c1' } })).resolves.toMatchObject({ response: { status: 204 } });
});

test.each([
  ['2', 2],
  ['Wed, 21 Oct 2037 07:28:00 GMT', 0],
])('where the body does not say how long to wait, the header does: %s', async (header, seconds) => {
  client.setConfig({ baseUrl: 'http://taskloom.test/api/console' });
  // The page of a proxy.
  vi.stubGlobal('fetch', async () => new Response('<h1>503</h1>', { status: 503, headers: { 'Retry-After': header } }));
  const refused = { status: 503, retryAfter: seconds };
  await expect(body(getClaim({ path: { claim_id: 'c1' } }))).rejects.toMatchObject(refused);
});
