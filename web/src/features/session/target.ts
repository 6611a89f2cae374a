/**
 * Where to go after a login: the path in `?to=`, if it is one of this app.
 * Anything that could lead to another host, or back to the login, is the start.
 */
export function safeTarget(to: unknown, origin: string = window.location.origin): string {
  if (typeof to !== 'string' || !to.startsWith('/')) return '/';
  // Browsers drop tabs and line ends inside addresses and read "\" as "/".
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/^\/[/\\]|[\u0000-\u001f\u007f\\]/.test(to)) return '/';
  let url: URL;
  try {
    url = new URL(to, origin);
  } catch {
    return '/';
  }
  if (url.origin !== origin || url.pathname.startsWith('//')) return '/';
  if (/^\/(login|invite|api)(\/|$)/.test(url.pathname)) return '/';
  return url.pathname + url.search + url.hash;
}

/** The login page that comes back to where the person is. */
export function loginPath(location: Pick<Location, 'pathname' | 'search' | 'hash'>): string {
  const to = safeTarget(location.pathname + location.search + location.hash);
  return to === '/' ? '/login' : `/login?to=${encodeURIComponent(to)}`;
}
