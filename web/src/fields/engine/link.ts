import { chars, normalText, spaceChar } from './count';

const maxURLChars = 2048;

export interface Link {
  /** Lower case, without the colon. */
  scheme: string;
  /** Without port and brackets. */
  host: string;
}

/**
 * Reads an absolute URL as Go's net/url does, which differs from the browser's URL: that one mends what the server
 * refuses. Answers what is wrong when it is not usable.
 */
export function parseLink(s: string): Link | string {
  const n = chars(normalText(s));
  if (n > maxURLChars) return `has ${n} characters, at most ${maxURLChars} allowed`;
  for (const char of s) {
    if (char <= ' ' || char === '\x7f' || char === '\\' || spaceChar.test(char)) {
      return 'holds white space, a control character or a backslash';
    }
  }
  const hash = s.indexOf('#');
  const [whole, fragment] = hash < 0 ? [s, ''] : [s.slice(0, hash), s.slice(hash + 1)];
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(whole)?.[1];
  if (whole.startsWith(':') || !escapesFit(fragment)) return 'cannot be parsed';
  if (!scheme) return pathFault(whole.split('?')[0] ?? '') || 'has no scheme such as https:';
  const rest = whole.slice(scheme.length + 1).split('?')[0] ?? '';
  if (!rest.startsWith('//')) return rest.startsWith('/') && !escapesFit(rest) ? 'cannot be parsed' : 'has no host';
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  if (!escapesFit(slash < 0 ? '' : rest.slice(slash))) return 'cannot be parsed';
  return readAuthority(scheme.toLowerCase(), authority);
}

/** Go refuses a first path segment with a colon, unless a scheme stands before it. */
function pathFault(path: string): string {
  const first = path.split('/')[0] ?? '';
  return first.includes(':') || !escapesFit(path) ? 'cannot be parsed' : '';
}

function escapesFit(s: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(s);
}

function readAuthority(scheme: string, authority: string): Link | string {
  const at = authority.lastIndexOf('@');
  const user = at >= 0;
  if (user && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return 'cannot be parsed';
  const parts = splitHost(user ? authority.slice(at + 1) : authority);
  if (!parts) return 'cannot be parsed';
  if (parts.host === '') return 'has no host';
  if (user) return 'carries a user name or password';
  if (parts.port && Number(parts.port) > 65535) return 'has a port that is not 0 to 65535';
  return { scheme, host: parts.host };
}

/** Splits "[::1]:80" and "example.com:80"; undefined when it is no host. */
function splitHost(s: string): { host: string; port: string } | undefined {
  const close = s.lastIndexOf(']');
  const bracketed = s.startsWith('[');
  if (bracketed && close < 0) return undefined;
  const colon = bracketed ? close + 1 : s.lastIndexOf(':');
  const tail = colon < 0 ? '' : s.slice(colon);
  const host = colon < 0 ? s : s.slice(0, colon);
  if (!/^(?::\d*)?$/.test(tail)) return undefined;
  if (bracketed) {
    const inner = host.slice(1, -1);
    return /^[0-9a-fA-F:.]+(?:%25[^%]+)?$/.test(inner) ? { host: inner, port: tail.slice(1) } : undefined;
  }
  if (/[[\]:]/.test(host)) return undefined;
  // ASCII that a host may hold; percent escapes only of bytes beyond ASCII.
  if (/[\x21-\x7e]/.test(host) && /[^\w.~!$&'()*+,;="<>%\u0080-\u{10ffff}-]/u.test(host)) return undefined;
  if (!escapesFit(host) || /%[0-7]/.test(host)) return undefined;
  return { host, port: tail.slice(1) };
}
