/** A page that was looked at, for the palette. */
export interface Visit {
  title: string;
  path: string;
}

const most = 12;
let owner = 0;

const place = () => `taskloom.recent.${owner}`;

/** Whose visits these are: two people at one browser do not see each other's. */
export function recentOf(user: number) {
  owner = user;
}

export function recent(): Visit[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(place()) ?? '[]');
    if (!Array.isArray(list)) return [];
    return list.filter((v): v is Visit => typeof v?.title === 'string' && typeof v?.path === 'string');
  } catch {
    return [];
  }
}

/** Notes the page that is open; the newest title of a path stays. */
export function remember(title: string, path = window.location.pathname) {
  if (!owner || path === '/' || path.startsWith('/claims/') || title === '') return;
  const list = [{ title, path }, ...recent().filter((v) => v.path !== path)].slice(0, most);
  try {
    localStorage.setItem(place(), JSON.stringify(list));
  } catch {
    // Storage may be full or forbidden; then there are no recent pages.
  }
}
