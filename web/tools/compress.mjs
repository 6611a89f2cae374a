// Copies a build of the web app to where Go embeds it: compress.mjs FROM TO.
// What compresses well is there in compressed form alone; the server unpacks it
// for the rare client that does not take gzip.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const [from, to] = process.argv.slice(2);
const text = new Set(['.js', '.css', '.html', '.svg', '.json', '.txt', '.webmanifest']);
const placeholder = '.gitkeep'; // committed: without it, a fresh clone has nothing to embed

mkdirSync(to, { recursive: true });
for (const name of readdirSync(to)) {
  if (name !== placeholder) rmSync(join(to, name), { recursive: true });
}
for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
  const source = join(entry.parentPath ?? entry.path, entry.name);
  const name = source.slice(from.length + 1);
  // Hidden files are the build's own notes.
  if (!entry.isFile() || name.split(/[\\/]/).some((part) => part.startsWith('.'))) continue;
  const target = join(to, name);
  mkdirSync(dirname(target), { recursive: true });
  if (name !== 'index.html' && text.has(extname(name))) {
    writeFileSync(`${target}.gz`, gzipSync(readFileSync(source), { level: constants.Z_BEST_COMPRESSION }));
  } else {
    copyFileSync(source, target);
  }
}
