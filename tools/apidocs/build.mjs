// Puts Swagger UI and Redoc, as npm installed them, into the directory that the
// server embeds: node build.mjs DIRECTORY. The same input gives the same bytes.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const target = process.argv[2];
const find = createRequire(import.meta.url);
const home = (name) => dirname(find.resolve(`${name}/package.json`));

// changes are made to a file on its way; each must be found exactly once, so
// that a new version cannot bring back what they remove.
const packages = [
  {
    name: 'swagger-ui-dist',
    legal: ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'],
    files: [
      { path: 'swagger-ui-bundle.js', changes: [] },
      { path: 'swagger-ui.css', changes: [sourceMap('swagger-ui.css.map', 'css')] },
    ],
  },
  {
    name: 'redoc',
    legal: ['LICENSE', 'bundles/redoc.standalone.js.LICENSE.txt'],
    files: [
      {
        path: 'bundles/redoc.standalone.js',
        changes: [
          {
            from: 'https://cdn.redoc.ly/redoc/logo-mini.svg',
            to: 'data:,',
            why: 'the address of a logo on another host is replaced by an empty image',
          },
          sourceMap('redoc.standalone.js.map', 'js'),
        ],
      },
    ],
  },
];

function sourceMap(name, kind) {
  const comment = `# sourceMappingURL=${name}`;
  return {
    from: kind === 'css' ? `/*${comment}*/` : `//${comment}`,
    to: '',
    why: 'the reference to its source map is removed',
  };
}

function changed(file, text) {
  for (const { from, to } of file.changes) {
    const parts = text.split(from);
    if (parts.length !== 2) {
      throw new Error(`${file.path}: expected ${from} once, found it ${parts.length - 1} times; look at what this version does`);
    }
    text = parts.join(to);
  }
  return text;
}

mkdirSync(target, { recursive: true });
// Committed, so that Go builds without all of this.
const written = new Set(['.gitkeep']);
function write(name, content) {
  writeFileSync(join(target, name), content);
  written.add(name);
}

write('.gitkeep', '');
const notice = ['The pages that describe the API contain these works of others.\n'];
for (const { name, legal, files } of packages) {
  const from = home(name);
  const { version, license, homepage } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  notice.push(`${'='.repeat(78)}\n${name} ${version} (${license})${homepage ? `\n${homepage}` : ''}\n`);
  for (const file of files) {
    const text = changed(file, readFileSync(join(from, file.path), 'utf8'));
    const base = file.path.split('/').pop();
    write(`${base}.gz`, gzipSync(text, { level: 9 }));
    notice.push(file.changes.length
      ? `${base} was changed: ${file.changes.map((c) => c.why).join('; ')}.`
      : `${base} was not changed.`);
  }
  for (const file of legal) {
    notice.push(`\n--- ${file} ---\n\n${readFileSync(join(from, file), 'utf8').trim()}`);
  }
  notice.push('');
}
write('NOTICE.txt', notice.join('\n'));

for (const name of readdirSync(target)) {
  if (!written.has(name)) rmSync(join(target, name)); // what an earlier version left
}
