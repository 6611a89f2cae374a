import type { Belonging } from '@/features/session/me';
import { bindings } from '@/lib/hotkeys';
import type { Visit } from '@/lib/recent';
import { type NavSection, pipelineHome, pipelinePages } from './nav';
import type { Entry } from './paletteSearch';

interface Means {
  go: (path: string) => void;
  setScheme: (scheme: 'light' | 'dark' | 'auto') => void;
  logOut: () => void;
}

/** Everything that the person can go to or do from here. */
export function entries(b: Belonging, nav: NavSection[], visits: Visit[], { go, setScheme, logOut }: Means): Entry[] {
  const list: Entry[] = [];
  const known = new Set<string>();
  const place = (group: string, label: string, path: string, more: Partial<Entry> = {}) => {
    if (known.has(path)) return;
    known.add(path);
    list.push({ id: `${group} ${path}`, group, label, run: () => go(path), ...more });
  };

  for (const v of visits.filter((v) => v.path !== window.location.pathname).slice(0, 5)) {
    list.push({ id: `recent ${v.path}`, group: 'Recent', label: v.title, hint: v.path, run: () => go(v.path) });
  }
  for (const k of bindings()) {
    if (k.hidden || k.group === 'Everywhere') continue;
    const run = () => void k.run(new KeyboardEvent('keydown', { key: '' }));
    list.push({ id: `key ${k.group} ${k.label} ${k.keys}`, group: 'On this page', label: k.label, keys: k.keys, run });
  }
  for (const item of nav.flatMap((s) => s.items.map((i) => ({ ...i, title: s.title })))) {
    if (!item.status) place('Go to', item.label, item.to, { hint: item.title });
  }
  place('Go to', 'Account and settings', '/account', { also: 'password sessions preferences profile' });
  place('Go to', 'Projects', '/projects');
  for (const p of b.projects) {
    for (const l of p.pipelines) {
      place('Pipelines', l.name, pipelineHome(b, p.id, l.id), { hint: p.name, also: l.status });
    }
  }
  for (const p of b.projects) {
    place('Projects', p.name, `/projects/${p.id}`, { hint: b.org(p.org_id)?.name });
    if (!b.isAdminOf(p.id)) continue;
    place('Projects', `Members of ${p.name}`, `/projects/${p.id}/members`, { also: 'people invite roles' });
  }
  for (const o of b.orgs.filter((o) => o.role === 'org_admin')) {
    place('Organization', `Members of ${o.name}`, `/orgs/${o.id}/members`, { also: 'people invite roles' });
    place('Organization', `API keys of ${o.name}`, `/orgs/${o.id}/keys`, { also: 'create revoke token' });
  }
  list.push(
    { id: 'scheme light', group: 'Actions', label: 'Light colours', also: 'theme', run: () => setScheme('light') },
    { id: 'scheme dark', group: 'Actions', label: 'Dark colours', also: 'theme night', run: () => setScheme('dark') },
    {
      id: 'scheme auto',
      group: 'Actions',
      label: 'Colours as the system',
      also: 'theme',
      run: () => setScheme('auto'),
    },
    {
      id: 'copy link',
      group: 'Actions',
      label: 'Copy the link of this page',
      also: 'url address share',
      run: () => void navigator.clipboard?.writeText(window.location.href),
    },
    { id: 'log out', group: 'Actions', label: 'Log out', also: 'sign exit', run: logOut },
  );
  return list;
}

/** Only found by a search: too many to list before one. */
export function deepEntries(b: Belonging, go: (path: string) => void): Entry[] {
  return b.projects
    .filter((p) => b.isAdminOf(p.id))
    .flatMap((p) =>
      p.pipelines.flatMap((l) =>
        pipelinePages(l.id)
          .slice(1)
          .map((page) => ({
            id: `deep ${page.to}`,
            group: 'Inside pipelines',
            label: `${l.name}: ${page.label}`,
            hint: p.name,
            run: () => go(page.to),
          })),
      ),
    );
}
