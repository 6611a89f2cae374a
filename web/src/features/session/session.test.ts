import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const ada = { id: 1, email: 'ada@x.test', name: 'Ada' };
const ben = { id: 2, email: 'ben@x.test', name: 'Ben' };
const answer = (status: number, data: unknown) =>
  new Response(JSON.stringify(data), { status, headers: { 'Content-Type': 'application/json' } });

let replaced: string[];

/** Fresh modules: the session is one of the tab. */
async function load(free = () => {}) {
  vi.resetModules();
  const api = await import('@/api');
  const { session, hear, watchSession } = await import('./session');
  watchSession(() => {}, free);
  return { api, session, hear };
}

beforeEach(() => {
  replaced = [];
  vi.stubGlobal('location', {
    origin: 'http://localhost:3000',
    href: 'http://localhost:3000/',
    replace: (to: string) => replaced.push(to),
  });
  // Node's Request wants whole addresses.
  const Native = Request;
  vi.stubGlobal(
    'Request',
    class extends Native {
      constructor(input: RequestInfo | URL, init?: RequestInit) {
        super(typeof input === 'string' ? new URL(input, 'http://localhost:3000') : input, init);
      }
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

describe('a lost session', () => {
  it('makes requests wait, then sends them again with their bodies', async () => {
    const { api, session } = await load();
    session.is(ada);
    const bodies: string[] = [];
    let inside = false;
    vi.stubGlobal('fetch', async (r: Request) => {
      bodies.push(`${r.method} ${await r.text()}`);
      return inside ? answer(200, { revision: 2 }) : answer(401, { error: 'unauthorized', message: 'log in' });
    });
    const save = api.body(api.saveDraft({ path: { claim_id: 'c' }, body: { revision: 1, values: { a: 'typed' } } }));
    await vi.waitFor(() => expect(session.get().lost).toBe(true));
    // A second request is not even sent while nobody is logged in.
    const list = api.body(api.listClaims());
    expect(bodies).toHaveLength(1);

    inside = true;
    session.entered(ada);
    expect(await save).toEqual({ revision: 2 });
    await list;
    expect(session.get().lost).toBe(false);
    expect(bodies.filter((b) => b === bodies[0])).toHaveLength(2);
    expect(bodies[0]).toContain('typed');
    expect(replaced).toEqual([]);
  });

  it('is not lost again by a refusal that was on its way when it came back', async () => {
    const { api, session } = await load();
    session.is(ada);
    let refuse = (_: Response) => {};
    const late = new Promise<Response>((resolve) => {
      refuse = resolve;
    });
    let asked = 0;
    vi.stubGlobal('fetch', (r: Request) => {
      if (!r.url.endsWith('/claims')) return Promise.resolve(answer(401, { error: 'unauthorized', message: '' }));
      asked++;
      return asked === 1 ? late : Promise.resolve(answer(200, { claims: [] }));
    });
    const list = api.body(api.listClaims());
    void api.body(api.listProjects());
    await vi.waitFor(() => expect(session.get().lost).toBe(true));
    session.entered(ada);
    refuse(answer(401, { error: 'unauthorized', message: '' }));
    vi.stubGlobal('fetch', async () => answer(200, { claims: [] }));
    expect(await list).toEqual({ claims: [] });
    expect(session.get().lost).toBe(false);
  });

  it('does not hold the login itself', async () => {
    const { api, session } = await load();
    session.is(ada);
    vi.stubGlobal('fetch', async (r: Request) =>
      r.url.endsWith('/login') ? answer(200, ada) : answer(401, { error: 'unauthorized', message: '' }),
    );
    void api.body(api.listClaims());
    await vi.waitFor(() => expect(session.get().lost).toBe(true));
    expect(await api.body(api.login({ body: { email: '', password: '' } }))).toEqual(ada);
  });

  it('is a plain refusal for who was never inside', async () => {
    const { api, session } = await load();
    vi.stubGlobal('fetch', async () => answer(401, { error: 'unauthorized', message: 'log in first' }));
    await expect(api.body(api.getMe())).rejects.toMatchObject({ status: 401 });
    expect(session.get().lost).toBe(false);
  });
});

describe('another person', () => {
  it('gets a new app after logging in over the page', async () => {
    const { session } = await load();
    session.is(ada);
    session.entered(ben);
    expect(replaced).toEqual(['/']);
    expect(session.get().user).toEqual(ada); // nothing of the old page becomes theirs
  });

  it('is noticed by an answer of the server', async () => {
    const { session } = await load();
    expect(session.is(ada)).toBe(true);
    expect(session.is(ben)).toBe(false);
    expect(replaced).toEqual(['/']);
  });

  it('takes away what would ask before the page is left', async () => {
    const free = vi.fn();
    const { session } = await load(free);
    session.is(ada);
    session.is(ben);
    expect(free).toHaveBeenCalledOnce();
    expect(replaced).toEqual(['/']);
  });
});

describe('news of another tab', () => {
  it('are checked, taken over, or start the app anew', async () => {
    const { session, hear } = await load();
    const check = vi.fn();
    hear({ kind: 'out' }, check);
    expect(check).not.toHaveBeenCalled(); // nobody is inside here
    session.is(ada);
    hear({ kind: 'out' }, check);
    expect(check).toHaveBeenCalledOnce();
    hear({ kind: 'in', user: ada.id }, check);
    expect(replaced).toEqual([]);
    hear({ kind: 'in', user: ben.id }, check);
    expect(replaced).toEqual(['/']);
  });
});
