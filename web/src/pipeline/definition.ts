/**
 * The definition of a pipeline: the one document that the builder edits, that
 * `taskloom apply` takes and that a version keeps (docs/apply.md). It mirrors
 * internal/pipeline/definition.go and internal/form/field.go key by key; what
 * makes sense is told by the server (`checkDefinition`), not by these types.
 */
export interface Definition {
  name: string;
  description?: string;
  /** When a task gets its run; absent: at_creation. */
  runs?: Runs;
  nodes: PipelineNode[];
  edges: Edge[];
}

export type Runs = 'at_creation' | 'on_first_claim';
export type Kind = 'start' | 'subtask' | 'review' | 'end';

/** A time span as Go writes it: "30m", "1h30m". */
export type Span = string;

/** One step of a pipeline. */
export interface PipelineNode {
  /** [a-z][a-z0-9_]{0,62}, unique in the pipeline. */
  key: string;
  kind: Kind;
  title?: string;
  /** Markdown for whoever works on the node. */
  instructions?: string;
  /** How long a claim holds; absent: 30m. */
  lease?: Span;
  /** Escalates when not handed in within this time; absent: no limit. */
  sla?: Span;
  /** How long returned work waits for the same person; absent: 4h. */
  reserve?: Span;
  /** The form of a subtask. */
  fields?: Field[];
  /** What a review checks. */
  reviews?: Target[];
  /** Rejections before a review escalates; absent: 3. */
  max_rework?: number;
  /** Nobody reviews what they submitted themselves. */
  four_eyes?: boolean;
}

/** Fields of one upstream subtask; none means all that people fill in. */
export interface Target {
  node: string;
  fields?: string[];
}

export interface Edge {
  from: string;
  to: string;
  /** The edge is taken only when it holds. */
  when?: Condition;
}

/** Exactly one of all, any, not and field (with op, and value where op needs one). */
export interface Condition {
  all?: Condition[];
  any?: Condition[];
  not?: Condition;
  /** A field's name, or "name.key" for one key of an object. */
  field?: string;
  op?: Op;
  value?: unknown;
}

export const ops = [
  'eq',
  'ne',
  'in',
  'nin',
  'contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'empty',
  'not_empty',
  'matches',
] as const;
export type Op = (typeof ops)[number];

/** The field types, in the order of the builder's palette. */
export const fieldTypes = [
  'short_text',
  'long_text',
  'rich_text',
  'code',
  'select',
  'multi_select',
  'boolean',
  'number',
  'integer',
  'rating',
  'likert',
  'pairwise',
  'ranking',
  'date',
  'datetime',
  'url',
  'json',
  'table',
  'list',
  'chat',
  'text_spans',
  'file_upload',
  'image',
  'audio',
  'video',
  'pdf',
  'static_content',
] as const;
export type FieldType = (typeof fieldTypes)[number];

export const inputs = ['contributor', 'seeded', 'static', 'llm'] as const;
export type Input = (typeof inputs)[number];

export interface Field {
  /** [a-z][a-z0-9_]{0,62}, unique in the pipeline, immutable after publish. */
  name: string;
  title?: string;
  description?: string;
  type: FieldType;
  input: Input;
  required?: boolean;
  /** Grid columns, 1 to 12; absent: 12. */
  width?: number;
  /** Of a static field, or what a contributor's field starts with. */
  value?: unknown;
  placeholder?: string;
  style?: string;
  unit?: string;
  options?: Option[];
  allow_other?: boolean;
  languages?: string[];
  scale?: Scale;
  rows?: Option[];
  columns?: Column[];
  item_type?: FieldType;
  items?: Option[];
  allow_ties?: boolean;
  choices?: string[];
  labels?: Option[];
  allow_overlap?: boolean;
  source?: string;
  sources?: string[];
  accept?: string[];
  multiple?: boolean;
  schemes?: string[];
  hosts?: string[];
  rules?: Rules;
  visible_when?: Condition;
  llm?: Generation;
  criteria?: Criterion[];
}

/** A choice, a row, an item or a label. Documents may write a bare string for its value; `normalize` spells it out. */
export interface Option {
  value: string;
  label?: string;
  description?: string;
  hotkey?: string;
  color?: string;
}

export interface Scale {
  min: number;
  max: number;
  half?: boolean;
  labels?: string[];
  allow_na?: boolean;
}

export interface Column {
  name: string;
  title?: string;
  description?: string;
  type: FieldType;
  required?: boolean;
  options?: Option[];
  allow_other?: boolean;
  scale?: Scale;
  schemes?: string[];
  hosts?: string[];
  rules?: Rules;
}

export interface Rules {
  min_chars?: number;
  max_chars?: number;
  min_words?: number;
  max_words?: number;
  min_lines?: number;
  max_lines?: number;
  /** RE2, anchored at both ends. */
  pattern?: string;
  pattern_message?: string;
  parse?: boolean;
  /** A number, a date or a datetime. */
  min?: number | string;
  max?: number | string;
  step?: number;
  decimals?: number;
  min_items?: number;
  max_items?: number;
  unique?: boolean;
  exclusive?: string[];
  equals_field?: string;
  must_be_true?: boolean;
  last_role?: string;
  accept?: string[];
  max_bytes?: number;
  played_fully?: boolean;
}

export interface Generation {
  model: string;
  /** May name the fields of context as {{name}}. */
  prompt: string;
  prompt_name?: string;
  context?: string[];
  tools?: Tool[];
}

export interface Tool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments: an object. */
  parameters?: Record<string, unknown>;
}

export interface Criterion {
  name: string;
  description?: string;
  /** Relative to the field's other criteria; absent: 1. */
  weight?: number;
}

/** Where the nodes stand on the canvas: key → [x, y]. Kept beside the definition, never part of it. */
export type Layout = Record<string, [number, number]>;

/** Defaults that the server applies to what is absent. */
export const defaults = { lease: '30m', reserve: '4h', maxRework: 3, width: 12, scale: { min: 1, max: 5 } } as const;

/** Limits that the server enforces; inputs offer nothing beyond them. */
export const limits = {
  name: 200,
  title: 200,
  description: 10_000,
  instructions: 50_000,
  nodes: 200,
  edges: 1000,
  fieldsOfForm: 200,
  maxRework: 100,
  prompt: 50_000,
} as const;

export const namePattern = /^[a-z][a-z0-9_]{0,62}$/;

/** What people call a node or a field: its title, else its key or name; the ends have names of their own. */
export function labelOf(thing: { title?: string; kind?: string; key?: string; name?: string }): string {
  if (!thing.title && thing.kind === 'start') return 'Start';
  if (!thing.title && thing.kind === 'end') return 'End';
  return thing.title || thing.key || thing.name || '(no name)';
}

/** The smallest pipeline: start and end with nothing between. */
export function emptyDefinition(name: string): Definition {
  return {
    name,
    nodes: [
      { key: 'start', kind: 'start' },
      { key: 'end', kind: 'end' },
    ],
    edges: [],
  };
}
