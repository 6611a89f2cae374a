import { choicesOf } from './conditions';
import type { Column, Definition, Field } from './definition';

/** A value of the field's type to preview a form with; undefined where none can be made up, such as a video. */
export function sampleOf(f: Field): unknown {
  if (f.value !== undefined) return f.value;
  const label = f.title || f.name;
  switch (f.type) {
    case 'short_text':
      return cut(`A sample of ${label.toLowerCase()}`, f.rules?.max_chars);
    case 'long_text':
      return cut(
        `This stands for “${label}”.\n\nA task brings its own text; here you can type another one to see how the form behaves with it.`,
        f.rules?.max_chars,
      );
    case 'rich_text':
      return cut(`This stands for **${label}**.\n\n- one point\n- another point`, f.rules?.max_chars);
    case 'code':
      return codeSample(f.languages?.[0]);
    case 'select':
      return f.options?.[0]?.value;
    case 'multi_select':
      return f.options?.slice(0, Math.max(1, f.rules?.min_items ?? 1)).map((o) => o.value);
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return Number(f.rules?.min ?? 1);
    case 'rating':
      return f.scale?.max ?? Number(f.rules?.max ?? 5);
    case 'likert':
      return Object.fromEntries((f.rows ?? []).map((r) => [r.value, f.scale?.max ?? 5]));
    case 'pairwise':
      return { choice: choicesOf(f)[0] };
    case 'ranking':
      return f.items?.map((i) => i.value);
    case 'date':
      return typeof f.rules?.min === 'string' ? f.rules.min : '2026-01-31';
    case 'datetime':
      return typeof f.rules?.min === 'string' ? f.rules.min : '2026-01-31T09:00:00Z';
    case 'url':
      return `${f.schemes?.[0] ?? 'https'}://${(f.hosts?.[0] ?? 'example.com').replace('*.', 'www.')}/sample`;
    case 'json':
      return { sample: true, of: f.name };
    case 'table':
      return [Object.fromEntries((f.columns ?? []).map((c) => [c.name, cell(c)]))];
    case 'list': {
      const item = (n: number) =>
        f.item_type && f.item_type !== 'short_text' ? sampleOf({ ...f, type: f.item_type }) : `Item ${n}`;
      return [item(1), item(2), item(3)];
    }
    case 'chat':
      return [
        { role: 'user', content: 'How far is the moon?' },
        { role: 'assistant', content: 'About 384,400 km on average.' },
      ];
    case 'image':
      return { url: picture };
    case 'static_content':
    case 'text_spans':
    case 'file_upload':
    case 'audio':
    case 'video':
    case 'pdf':
      return undefined;
  }
}

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="270"><rect width="480" height="270" fill="#1098ad"/>' +
    '<circle cx="360" cy="80" r="36" fill="#ffe066"/><path d="M0 270 160 110 260 210 340 150 480 270z" fill="#0b7285"/></svg>',
)}`;

function cell(c: Column): unknown {
  return sampleOf({ ...c, input: 'contributor' });
}

function cut(text: string, most: number | undefined): string {
  return most === undefined ? text : [...text].slice(0, most).join('');
}

function codeSample(language: string | undefined): string {
  switch (language) {
    case 'json':
      return '{\n  "sample": true\n}';
    case 'python':
      return 'def double(x):\n    return x * 2\n';
    case 'sql':
      return 'select 1;\n';
    default:
      return 'function double(x) {\n  return x * 2;\n}\n';
  }
}

/** Sample values for everything that a person at the node is shown: given, fixed, generated, and answered before. */
export function samplesOf(d: Definition, upstream: ReadonlySet<string>, key: string): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const n of d.nodes) {
    if (n.key !== key && !upstream.has(n.key)) continue;
    for (const f of n.fields ?? []) {
      if (n.key === key && f.input === 'contributor') continue;
      const value = sampleOf(f);
      if (value !== undefined) out[f.name] = value;
    }
  }
  return out;
}
