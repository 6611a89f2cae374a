import { type Definition, type Field, labelOf } from '@/pipeline/definition';

/** The fields that integrators fill, in the order of the pipeline. */
export function seedFields(def: Definition): Field[] {
  return def.nodes.flatMap((n) => (n.fields ?? []).filter((f) => f.input === 'seeded'));
}

/** A value that the External API accepts for the field, as far as its definition tells. */
export function exampleValue(f: Field): unknown {
  const first = f.options?.[0];
  switch (f.type) {
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
    case 'rating':
      return f.rules?.min !== undefined && typeof f.rules.min === 'number' ? f.rules.min : (f.scale?.min ?? 1);
    case 'select':
      return first?.value ?? 'a';
    case 'multi_select':
      return [first?.value ?? 'a'];
    case 'date':
      return '2026-01-31';
    case 'datetime':
      return '2026-01-31T09:00:00Z';
    case 'url':
      return 'https://example.com/';
    case 'image':
    case 'audio':
    case 'video':
    case 'pdf':
      return `https://example.com/${f.name}`;
    case 'list':
      return ['…'];
    case 'table':
      return [Object.fromEntries((f.columns ?? []).map((c) => [c.name, '…']))];
    case 'chat':
      return [{ role: 'user', content: '…' }];
    case 'json':
      return {};
    default:
      return `${labelOf(f)} …`;
  }
}

/** What creates one task over the External API. The key stays a variable: it is shown only once, when it is made. */
export function createSnippet(origin: string, pipelineId: number, fields: readonly Field[]): string {
  const body = { tasks: [{ fields: Object.fromEntries(fields.map((f) => [f.name, exampleValue(f)])) }] };
  return [
    `curl -sS ${origin}/api/v1/workflows/${pipelineId}/tasks \\`,
    `  -H "Authorization: Bearer $TASKLOOM_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(JSON.stringify(body))}`,
  ].join('\n');
}

/** Text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
