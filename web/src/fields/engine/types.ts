/** One choice of a select, row of a likert, item of a ranking or label of a span. */
export interface Option {
  value: string;
  label?: string;
  description?: string;
  /** One character that picks the option. */
  hotkey?: string;
  /** #rrggbb or a colour name of the theme. */
  color?: string;
}

/** A range of whole steps, both ends included. */
export interface Scale {
  min: number;
  max: number;
  /** Half steps, of ratings only. */
  half?: boolean;
  /** All steps' names, or those of the two ends. */
  labels?: string[];
  /** A row of a likert may be answered "na". */
  allow_na?: boolean;
}

/** Constraints beyond the type. Bounds are inclusive; characters are Unicode code points. */
export interface Rules {
  min_chars?: number;
  max_chars?: number;
  min_words?: number;
  max_words?: number;
  min_lines?: number;
  max_lines?: number;
  /** RE2, matched against the whole text. */
  pattern?: string;
  pattern_message?: string;
  parse?: boolean;
  /** A number, or the text of a date or datetime. */
  min?: unknown;
  max?: unknown;
  step?: unknown;
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

/** A column of a table; its type is a scalar one. */
export interface Column {
  name: string;
  title?: string;
  description?: string;
  type: string;
  required?: boolean;
  options?: Option[];
  allow_other?: boolean;
  scale?: Scale;
  schemes?: string[];
  hosts?: string[];
  rules?: Rules;
}

/** Exactly one of all, any, not and field, as internal/form documents it. */
export interface Condition {
  all?: Condition[];
  any?: Condition[];
  not?: Condition;
  field?: string;
  op?: string;
  value?: unknown;
}

export type Input = 'contributor' | 'seeded' | 'static' | 'llm';

/** A field of a form, as it stands in a pipeline definition and in a claim's answer. */
export interface Field {
  name: string;
  title?: string;
  description?: string;
  type: string;
  input: Input;
  required?: boolean;
  /** Grid columns, 1 to 12; absent means 12. */
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
  item_type?: string;
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
}

/** Field name → JSON value. Absent, null and empty all mean "not answered". */
export type Values = Record<string, unknown>;

/** One thing that is wrong; `path` is an RFC 6901 pointer into the field's value, absent for the whole. */
export interface Problem {
  field: string;
  path?: string;
  message: string;
}
