import { heardTime } from './clock';
import { APIError } from './errors';
import { client } from './gen/client.gen';
import { reachable } from './reachable';

/**
 * Called when the server says that there is no session (any more). While the
 * promise that it returns is open, every request waits, then is sent again: a
 * lost session costs nobody their work. Without a promise the refusal is thrown.
 */
let onSessionLost: () => Promise<void> | undefined = () => undefined;
let regained: Promise<void> | undefined;
/** Counts sessions that came back: a refusal of an earlier one says nothing about the present one. */
let epoch = 0;
export function whenSessionLost(act: () => Promise<void> | undefined) {
  onSessionLost = act;
}

/** These are for people without a session. */
const sessionless = /\/(login|logout|invites\/lookup|invites\/accept)$/;

/** The newest answer of a GET, sent again by its tag so that an unchanged one costs no body. */
const tags = new Map<string, { tag: string; body: string; type: string }>();
const tagsKept = 200;

/** Other people's data must not outlive a session. */
export function forgetAnswers() {
  tags.clear();
}

async function tagged(request: Request): Promise<Response> {
  const known = request.method === 'GET' ? tags.get(request.url) : undefined;
  if (known) request.headers.set('If-None-Match', known.tag);
  const sent = Date.now();
  const begun = await fetch(request);
  heardTime(begun.headers, sent, Date.now()); // of a 304, too, which has a Date of its own
  const response = await whole(begun);
  if (response.status === 304 && known) {
    return new Response(known.body, { status: 200, headers: { 'Content-Type': known.type } });
  }
  const tag = response.headers.get('ETag');
  if (request.method === 'GET' && response.ok && tag) {
    tags.delete(request.url);
    const oldest = tags.keys().next();
    if (tags.size >= tagsKept && !oldest.done) tags.delete(oldest.value);
    const body = await response.clone().text();
    tags.set(request.url, { tag, body, type: response.headers.get('Content-Type') ?? 'application/json' });
  }
  return response;
}

/** Answers of these have no body (Fetch standard, null body status), though browsers show an empty one. */
const bodiless = new Set([204, 205, 304]);

/** An answer with all of its body: one that breaks off in the middle is no answer, however it began. */
async function whole(begun: Response): Promise<Response> {
  const { status, statusText, headers } = begun;
  if (!begun.body || bodiless.has(status)) return begun;
  return new Response(await begun.arrayBuffer(), { status, statusText, headers });
}

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const needsSession = !sessionless.test(new URL(request.url).pathname);
  for (;;) {
    if (needsSession) await regained;
    const sent = epoch;
    const response = await reach(request.clone());
    if (response.ok) return response;
    if (response.status === 401 && needsSession) {
      if (sent !== epoch) continue;
      const wait = onSessionLost();
      if (wait) {
        if (wait !== regained) void wait.then(() => epoch++);
        regained = wait;
        continue;
      }
    }
    throw await refusal(response);
  }
}

async function reach(request: Request): Promise<Response> {
  try {
    const response = await tagged(request);
    reachable.set(true);
    return response;
  } catch (err) {
    if (request.signal.aborted) throw err;
    reachable.set(false);
    throw new APIError(
      0,
      'offline',
      'The server cannot be reached. Your work is kept here; it is sent when the connection is back.',
    );
  }
}

async function refusal(response: Response): Promise<APIError> {
  const id = response.headers.get('X-Request-Id') ?? '';
  let body: { error?: string; message?: string; problems?: APIError['problems']; retry_after?: number } = {};
  try {
    body = await response.json();
  } catch {
    // A proxy's page: the status has to do.
  }
  return new APIError(
    response.status,
    body.error ?? 'unknown',
    body.message ?? `The server answered with status ${response.status}.`,
    body.problems ?? [],
    id,
    body.retry_after ?? retryAfter(response.headers),
  );
}

/** The seconds of the header, at most eleven days of them; a date, as few send it, says nothing here. */
function retryAfter(headers: Headers): number {
  const text = headers.get('Retry-After') ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) : 0;
}

client.setConfig({ baseUrl: '/api/console', fetch: send, throwOnError: true });

/**
 * The body of an answer. Every call of an operation goes through it:
 * `await body(getMe())`. Refusals are thrown as APIError.
 */
export async function body<T>(call: Promise<{ data: T }>): Promise<NonNullable<T>> {
  return (await call).data as NonNullable<T>;
}
