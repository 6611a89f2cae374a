import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { holds } from './condition';
import { count } from './count';
import { Form } from './form';
import { loadPatterns } from './pattern';
import type { Condition, Field, Problem, Values } from './types';

/** Shared with Go; README.md there explains the shape. */
const folder = `${process.cwd()}/../internal/form/testdata/vectors`;

/**
 * What only the server does: it checks definitions at publish (the builder asks it), seeds tasks and describes the
 * schema to integrators. Everything else is run here.
 */
const serverOnly = ['definition', 'condition', 'seed', 'schema', 'has_file_upload', 'only_file_upload'];

interface Expected {
  field: string;
  path?: string;
  says?: string;
}

interface Vector {
  name: string;
  fields?: unknown;
  values?: unknown;
  context?: unknown;
  condition?: Condition;
  text?: string;
  go_only?: string;
  expect: {
    submission?: { kept?: unknown; problems?: Expected[] };
    draft?: Expected[];
    visible?: Record<string, boolean>;
    holds?: boolean;
    counts?: unknown;
  };
}

/** Replaces the notations for values that a file does not spell out. */
function unfold(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(unfold);
  if (typeof v !== 'object' || v === null) return v;
  const { $repeat, $array_of, $nest, $raw, times } = v as Record<string, unknown>;
  if (typeof $raw === 'string') return JSON.parse($raw);
  if (typeof $repeat === 'string') return $repeat.repeat(Number(times));
  if ('$array_of' in v) return Array(Number(times)).fill($array_of);
  if ($nest !== undefined) return JSON.parse('['.repeat(Number($nest)) + ']'.repeat(Number($nest)));
  return Object.fromEntries(Object.entries(v).map(([key, part]) => [key, unfold(part)]));
}

function requireProblems(want: Expected[], got: Problem[]) {
  const place = (p: { field: string; path?: string }) => ({ field: p.field, path: p.path ?? '' });
  expect(got.map(place), JSON.stringify(got)).toEqual(want.map(place));
  for (const [i, p] of got.entries()) expect(p.message).toContain(want[i]?.says ?? '');
}

function run(v: Vector, fields: Field[]) {
  const form = new Form(fields);
  const values = (unfold(v.values ?? {}) ?? {}) as Values;
  const context = (unfold(v.context ?? {}) ?? {}) as Values;
  const { submission, draft, visible, counts } = v.expect;
  if (submission) {
    const got = form.checkSubmission(values, context);
    requireProblems(submission.problems ?? [], got.problems ?? []);
    if (!got.problems) expect(got.kept).toEqual(unfold(submission.kept ?? {}));
  }
  if (draft) requireProblems(draft, form.checkDraft(values));
  if (visible) expect(form.visible({ ...values, ...context })).toEqual(visible);
  if (v.expect.holds !== undefined) expect(holds(v.condition ?? {}, values)).toBe(v.expect.holds);
  if (counts) expect(count(v.text ?? '')).toEqual(counts);
}

beforeAll(() => loadPatterns());

interface VectorFile {
  name: string;
  fields?: unknown;
  cases: Vector[];
}

const runs = (v: Vector) => !v.go_only && Object.keys(v.expect).some((key) => !serverOnly.includes(key));

const files: VectorFile[] = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ ...JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')), name }))
  .map((file: VectorFile) => ({ ...file, cases: file.cases.filter(runs) }))
  .filter((file) => file.cases.length > 0);

test('there are vectors of every kind that a browser runs', () => {
  expect(files.length).toBeGreaterThanOrEqual(30);
});

describe.each(files)('$name', (file) => {
  test.each(file.cases)('$name', (v) => {
    run(v, unfold(v.fields ?? file.fields ?? []) as Field[]);
  });
});
