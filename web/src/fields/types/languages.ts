import type { Extension } from '@uiw/react-codemirror';
import { chunk } from '@/lib/chunk';

type Load = () => Promise<Extension>;

const legacy =
  (load: () => Promise<unknown>, name: string): Load =>
  async () => {
    const [{ StreamLanguage }, mode] = await Promise.all([chunk(() => import('@codemirror/language'))(), load()]);
    return StreamLanguage.define((mode as Record<string, Parameters<typeof StreamLanguage.define>[0]>)[name] as never);
  };

/** Languages that are highlighted; each is loaded when a field has it. */
const languages: Record<string, Load> = {
  javascript: async () => (await chunk(() => import('@codemirror/lang-javascript'))()).javascript({ jsx: true }),
  typescript: async () =>
    (await chunk(() => import('@codemirror/lang-javascript'))()).javascript({ jsx: true, typescript: true }),
  json: async () => (await chunk(() => import('@codemirror/lang-json'))()).json(),
  python: async () => (await chunk(() => import('@codemirror/lang-python'))()).python(),
  yaml: async () => (await chunk(() => import('@codemirror/lang-yaml'))()).yaml(),
  go: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/go')),
    'go',
  ),
  rust: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/rust')),
    'rust',
  ),
  shell: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/shell')),
    'shell',
  ),
  sql: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/sql')),
    'standardSQL',
  ),
  c: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/clike')),
    'c',
  ),
  cpp: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/clike')),
    'cpp',
  ),
  java: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/clike')),
    'java',
  ),
  csharp: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/clike')),
    'csharp',
  ),
  kotlin: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/clike')),
    'kotlin',
  ),
  ruby: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/ruby')),
    'ruby',
  ),
  css: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/css')),
    'css',
  ),
  html: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/xml')),
    'html',
  ),
  xml: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/xml')),
    'xml',
  ),
  toml: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/toml')),
    'toml',
  ),
  dockerfile: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/dockerfile')),
    'dockerFile',
  ),
  lua: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/lua')),
    'lua',
  ),
  r: legacy(
    chunk(() => import('@codemirror/legacy-modes/mode/r')),
    'r',
  ),
};

const aliases: Record<string, string> = {
  js: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  yml: 'yaml',
  golang: 'go',
  rs: 'rust',
  bash: 'shell',
  sh: 'shell',
  'c++': 'cpp',
  'c#': 'csharp',
  rb: 'ruby',
};

/** The highlighting of a language; none for one that is not known. */
export async function loadLanguage(name: string): Promise<Extension[]> {
  const key = name.toLowerCase();
  const load = languages[aliases[key] ?? key];
  return load ? [await load()] : [];
}
