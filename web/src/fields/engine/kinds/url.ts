import { parseLink } from '../link';
import { list, quote } from '../quote';
import type { Field } from '../types';
import type { Kind } from './kind';

/** url: absolute, with a host, of an allowed scheme, without user and password. */
export function urlKind(f: Field): Kind {
  const schemes = f.schemes?.length ? f.schemes : ['https', 'http'];
  const hosts = f.hosts ?? [];
  return {
    check(v, at) {
      if (typeof v !== 'string') {
        at.expect('a URL', v);
        return;
      }
      const link = parseLink(v);
      if (typeof link === 'string') at.fail(`${quote(v)} is not a URL that can be used: it ${link}`);
      else if (!schemes.includes(link.scheme)) {
        at.fail(`${quote(v)} has the scheme ${quote(link.scheme)}; expected ${list(schemes)}`);
      } else if (hosts.length > 0 && !hostAllowed(link.host, hosts)) {
        at.fail(`${quote(v)} has the host ${quote(link.host)}; expected ${list(hosts)}`);
      }
    },
  };
}

function hostAllowed(host: string, hosts: string[]): boolean {
  const name = host.toLowerCase();
  return hosts.some((h) => name === h || (h.startsWith('*') && name.endsWith(h.slice(1))));
}
