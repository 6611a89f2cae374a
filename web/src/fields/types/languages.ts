import type { Extension } from '@uiw/react-codemirror';

type Load = () => Promise<Extension>;

const legacy =
  (load: () => Promise<unknown>, name: string): Load =>
  async () => {
    const [{ StreamLanguage }, mode] = await Promise.all([import('@codemirror/language'), load()]);
    return StreamLanguage.define((mode as Record<string, Parameters<typeof StreamLanguage.define>[0]>)[name] as never);
  };

/** Languages that are highlighted; each is loaded when a field has it. */
const languages: Record<string, Load> = {
  javascript: async () => (await import('@codemirror/lang-javascript')).javascript({ jsx: true }),
  typescript: async () => (await import('@codemirror/lang-javascript')).javascript({ jsx: true, typescript: true }),
  json: async () => (await import('@codemirror/lang-json')).json(),
  python: async () => (await import('@codemirror/lang-python')).python(),
  yaml: async () => (await import('@codemirror/lang-yaml')).yaml(),
  go: legacy(() => import('@codemirror/legacy-modes/mode/go'), 'go'),
  rust: legacy(() => import('@codemirror/legacy-modes/mode/rust'), 'rust'),
  shell: legacy(() => import('@codemirror/legacy-modes/mode/shell'), 'shell'),
  sql: legacy(() => import('@codemirror/legacy-modes/mode/sql'), 'standardSQL'),
  c: legacy(() => import('@codemirror/legacy-modes/mode/clike'), 'c'),
  cpp: legacy(() => import('@codemirror/legacy-modes/mode/clike'), 'cpp'),
  java: legacy(() => import('@codemirror/legacy-modes/mode/clike'), 'java'),
  csharp: legacy(() => import('@codemirror/legacy-modes/mode/clike'), 'csharp'),
  kotlin: legacy(() => import('@codemirror/legacy-modes/mode/clike'), 'kotlin'),
  ruby: legacy(() => import('@codemirror/legacy-modes/mode/ruby'), 'ruby'),
  css: legacy(() => import('@codemirror/legacy-modes/mode/css'), 'css'),
  html: legacy(() => import('@codemirror/legacy-modes/mode/xml'), 'html'),
  xml: legacy(() => import('@codemirror/legacy-modes/mode/xml'), 'xml'),
  toml: legacy(() => import('@codemirror/legacy-modes/mode/toml'), 'toml'),
  dockerfile: legacy(() => import('@codemirror/legacy-modes/mode/dockerfile'), 'dockerFile'),
  lua: legacy(() => import('@codemirror/legacy-modes/mode/lua'), 'lua'),
  r: legacy(() => import('@codemirror/legacy-modes/mode/r'), 'r'),
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
