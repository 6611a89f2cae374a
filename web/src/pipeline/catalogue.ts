import { type Field, type FieldType, fieldTypes, type Input, type Rules } from './definition';

/**
 * What each field type is called and which settings, rules and looks it knows.
 * The truth is internal/form/definition_fit.go; the server refuses what does
 * not fit, and the builder offers only what does.
 */
export interface TypeInfo {
  type: FieldType;
  label: string;
  /** What it is for, in a few words. */
  about: string;
  group: Group;
  settings: Setting[];
  rules: Rule[];
  /** Looks, the default one first. */
  styles: string[];
  inputs: Input[];
}

export type Group = 'Text' | 'Choice' | 'Number and date' | 'Compare' | 'Structured' | 'Media';
export const groups: Group[] = ['Text', 'Choice', 'Number and date', 'Compare', 'Structured', 'Media'];

export type Rule = keyof Rules;
export type Setting =
  | 'options'
  | 'allow_other'
  | 'languages'
  | 'placeholder'
  | 'unit'
  | 'scale'
  | 'rows'
  | 'choices'
  | 'sources'
  | 'items'
  | 'allow_ties'
  | 'source'
  | 'schemes'
  | 'hosts'
  | 'columns'
  | 'item_type'
  | 'labels'
  | 'allow_overlap'
  | 'accept'
  | 'multiple';

const text: Rule[] = ['min_chars', 'max_chars', 'min_words', 'max_words', 'pattern', 'pattern_message', 'equals_field'];
const lines: Rule[] = ['min_lines', 'max_lines'];
const items: Rule[] = ['min_items', 'max_items'];
const filled: Input[] = ['contributor', 'seeded', 'static', 'llm'];
const shown: Input[] = ['seeded', 'static'];

type Row = [FieldType, string, string, Group, Setting[], Rule[], string[]?, Input[]?];

const rows: Row[] = [
  ['short_text', 'Short text', 'one line', 'Text', ['placeholder'], text],
  ['long_text', 'Long text', 'paragraphs', 'Text', ['placeholder'], [...text, ...lines]],
  ['rich_text', 'Rich text', 'Markdown', 'Text', ['placeholder'], [...text, ...lines]],
  ['code', 'Code', 'with highlighting', 'Text', ['languages', 'placeholder'], [...text, ...lines, 'parse']],
  [
    'select',
    'Choice',
    'one of several',
    'Choice',
    ['options', 'allow_other'],
    ['equals_field'],
    ['radio', 'dropdown', 'buttons'],
  ],
  [
    'multi_select',
    'Several choices',
    'any of several',
    'Choice',
    ['options', 'allow_other'],
    [...items, 'unique', 'exclusive', 'equals_field'],
    ['checkboxes', 'dropdown', 'chips'],
  ],
  [
    'boolean',
    'Yes or no',
    'a tick or a switch',
    'Choice',
    [],
    ['must_be_true', 'equals_field'],
    ['checkbox', 'switch', 'yes_no'],
  ],
  [
    'number',
    'Number',
    'with a fraction',
    'Number and date',
    ['placeholder', 'unit'],
    ['min', 'max', 'step', 'decimals', 'equals_field'],
    ['input', 'slider', 'stepper'],
  ],
  [
    'integer',
    'Whole number',
    'without a fraction',
    'Number and date',
    ['placeholder', 'unit'],
    ['min', 'max', 'step', 'equals_field'],
    ['input', 'slider', 'stepper'],
  ],
  ['rating', 'Rating', 'stars or numbers', 'Choice', ['scale', 'unit'], ['min', 'max'], ['stars', 'numbers', 'slider']],
  ['likert', 'Likert', 'statements on a scale', 'Compare', ['scale', 'rows'], []],
  ['pairwise', 'Pairwise', 'A or B, side by side', 'Compare', ['sources', 'choices', 'scale'], []],
  ['ranking', 'Ranking', 'bring into order', 'Compare', ['items', 'source', 'allow_ties'], []],
  ['date', 'Date', 'a day', 'Number and date', ['placeholder'], ['min', 'max', 'equals_field']],
  ['datetime', 'Date and time', 'a moment', 'Number and date', ['placeholder'], ['min', 'max', 'equals_field']],
  ['url', 'Link', 'an address', 'Text', ['schemes', 'hosts', 'placeholder'], ['equals_field']],
  ['json', 'JSON', 'any document', 'Structured', ['placeholder'], ['max_bytes']],
  ['table', 'Table', 'rows of typed columns', 'Structured', ['columns'], items],
  ['list', 'List', 'values in order', 'Structured', ['item_type', 'placeholder'], [...items, 'unique', 'equals_field']],
  ['chat', 'Chat', 'a conversation', 'Structured', [], [...items, 'last_role']],
  ['text_spans', 'Text spans', 'mark parts of a text', 'Structured', ['source', 'labels', 'allow_overlap'], [...items]],
  [
    'file_upload',
    'File',
    'one or several uploads',
    'Media',
    ['accept', 'multiple'],
    [...items, 'max_bytes'],
    [],
    ['contributor', 'seeded'],
  ],
  ['image', 'Image', 'shown', 'Media', [], [], [], shown],
  ['audio', 'Audio', 'played', 'Media', [], ['played_fully'], [], shown],
  ['video', 'Video', 'played', 'Media', [], ['played_fully'], [], shown],
  ['pdf', 'PDF', 'shown', 'Media', [], ['played_fully'], [], shown],
  ['static_content', 'Note', 'Markdown for the reader', 'Text', [], [], ['plain', 'info', 'warning'], ['static']],
];

export const catalogue: Record<FieldType, TypeInfo> = Object.fromEntries(
  rows.map(([type, label, about, group, settings, rules, styles = [], inputs = filled]) => [
    type,
    { type, label, about, group, settings, rules, styles, inputs },
  ]),
) as Record<FieldType, TypeInfo>;

/** What fits one cell: the types of table columns and of list items. */
export const scalarTypes: FieldType[] = [
  'short_text',
  'long_text',
  'select',
  'boolean',
  'number',
  'integer',
  'rating',
  'date',
  'datetime',
  'url',
];

/** Free text, which text spans may mark. */
export const proseTypes: FieldType[] = ['short_text', 'long_text', 'rich_text', 'code'];
/** What a ranking may take its items from. */
export const rankableTypes: FieldType[] = ['list', 'multi_select', 'ranking'];

export const inputLabels: Record<Input, string> = {
  contributor: 'Contributor fills it in',
  seeded: 'Given when the task is created',
  static: 'Fixed here',
  llm: 'Written by a language model',
};

export const styleLabels: Record<string, string> = {
  radio: 'Radio buttons',
  dropdown: 'Dropdown',
  buttons: 'Buttons',
  checkboxes: 'Checkboxes',
  chips: 'Chips',
  checkbox: 'Checkbox',
  switch: 'Switch',
  yes_no: 'Yes / No',
  input: 'Input',
  slider: 'Slider',
  stepper: 'Stepper',
  stars: 'Stars',
  numbers: 'Numbers',
  plain: 'Plain',
  info: 'Info box',
  warning: 'Warning box',
};

/** Settings of a field, those of a list's items included. */
export function settingsOf(field: Pick<Field, 'type' | 'item_type'>): Setting[] {
  const own = catalogue[field.type]?.settings ?? [];
  if (field.type !== 'list') return own;
  return [...new Set([...own, ...catalogue[field.item_type ?? 'short_text'].settings])];
}

/** Rules of a field, those of a list's items included. */
export function rulesOf(field: Pick<Field, 'type' | 'item_type'>): Rule[] {
  const own = catalogue[field.type]?.rules ?? [];
  if (field.type !== 'list') return own;
  return [...new Set([...own, ...catalogue[field.item_type ?? 'short_text'].rules])];
}

const settingKeys: Setting[] = [...new Set(fieldTypes.flatMap((t) => catalogue[t].settings))];

/**
 * The field with another type, without the settings, rules, look, value and
 * input that the new type does not know, and with those that it cannot do without.
 */
export function withType(field: Field, type: FieldType): Field {
  const next: Field = { ...field, type };
  if (type !== 'list') delete next.item_type;
  const info = catalogue[type];
  const keep = settingsOf(next);
  for (const key of settingKeys) if (!keep.includes(key)) delete next[key];
  if (next.style && !info.styles.includes(next.style)) delete next.style;
  if (!info.inputs.includes(next.input)) return withType(withInput(next, info.inputs[0] ?? 'contributor'), type);
  const rules = rulesOf(next);
  next.rules = pruned(next.rules, rules);
  if (!next.rules) delete next.rules;
  if (next.rules && boundKind(field.type) !== boundKind(type)) {
    const { min: _min, max: _max, ...rest } = next.rules;
    next.rules = rest;
  }
  if (field.type !== type) delete next.value;
  return { ...next, ...needed(next) };
}

/** Ratings, numbers, dates and datetimes bound different things with min and max. */
function boundKind(type: FieldType): string {
  return type === 'number' || type === 'integer' ? 'number' : type;
}

function pruned(rules: Rules | undefined, keep: Rule[]): Rules | undefined {
  const left = Object.entries(rules ?? {}).filter(([key]) => keep.includes(key as Rule));
  return left.length > 0 ? (Object.fromEntries(left) as Rules) : undefined;
}

/** What the type asks for and the field lacks. */
function needed(f: Field): Partial<Field> {
  const two = (a: string, b: string) => [
    { value: a.toLowerCase().replace(' ', '_'), label: a },
    { value: b.toLowerCase().replace(' ', '_'), label: b },
  ];
  switch (f.type) {
    case 'select':
    case 'multi_select':
      return { options: f.options ?? two('Option 1', 'Option 2') };
    case 'likert':
      return { rows: f.rows ?? two('Statement 1', 'Statement 2') };
    case 'ranking':
      return f.source ? {} : { items: f.items ?? two('Item 1', 'Item 2') };
    case 'table':
      return { columns: f.columns ?? [{ name: 'column_1', title: 'Column 1', type: 'short_text' }] };
    case 'text_spans':
      return { labels: f.labels ?? [{ value: 'LABEL', label: 'Label', hotkey: '1' }] };
    default:
      return {};
  }
}

/** The field with another input mode, without what only the old one has. */
export function withInput(field: Field, input: Input): Field {
  const next: Field = { ...field, input };
  if (input !== 'llm') delete next.llm;
  else next.llm = field.llm ?? { model: '', prompt: '' };
  if (input === 'static') delete next.required;
  if (input === 'seeded' || input === 'llm') delete next.value;
  return next;
}
