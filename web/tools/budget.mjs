// Says what browsers load of a build, and fails when that is too much:
// budget.mjs DIRECTORY. Sizes are of JavaScript and CSS in KB (1,000 bytes),
// compressed by gzip as the server sends them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

/** From the empty browser to the home page, by way of the login. */
const firstLoad = 260;
/** What any later route, or a part that is loaded when it is needed, adds. */
const later = 220;

const first = [
  'index.html',
  'src/app/Shell.tsx',
  'src/features/session/LoginPage.tsx',
  'src/features/home/HomePage.tsx',
];

const directory = process.argv[2];
const manifest = JSON.parse(readFileSync(join(directory, '.vite/manifest.json'), 'utf8'));

/** The files that an entry of the manifest cannot do without. */
function closure(key, files = new Set(), seen = new Set()) {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`budget: the build has no ${key}; name its successor in web/tools/budget.mjs`);
  if (seen.has(key)) return files;
  seen.add(key);
  for (const file of [chunk.file, ...(chunk.css ?? [])]) if (/\.(js|css)$/.test(file)) files.add(file);
  for (const imported of chunk.imports ?? []) closure(imported, files, seen);
  return files;
}

const sizes = new Map();
function size(file) {
  if (!sizes.has(file)) {
    const packed = gzipSync(readFileSync(join(directory, file)), { level: constants.Z_BEST_COMPRESSION });
    sizes.set(file, packed.length);
  }
  return sizes.get(file);
}
const total = (files) => [...files].reduce((sum, file) => sum + size(file), 0) / 1000;

const base = new Set();
for (const key of first) for (const file of closure(key)) base.add(file);

const found = [{ what: 'login to home', size: total(base), limit: firstLoad }];
for (const [key, chunk] of Object.entries(manifest)) {
  if (!chunk.isDynamicEntry || first.includes(key)) continue;
  const added = [...closure(key)].filter((file) => !base.has(file));
  found.push({ what: key, size: total(added), limit: later });
}

const over = found.filter((one) => one.size > one.limit);
const shown = [
  found[0],
  ...found
    .slice(1)
    .sort((a, b) => b.size - a.size)
    .slice(0, 5),
];
for (const one of new Set([...shown, ...over])) {
  const text = `${one.size.toFixed(0).padStart(5)} of ${one.limit} KB  ${one.what}`;
  process.stdout.write(`${text}${over.includes(one) ? '  TOO MUCH' : ''}\n`);
}
process.exit(over.length ? 1 : 0);
