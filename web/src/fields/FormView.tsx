import { Box, Stack, Text } from '@mantine/core';
import { type CSSProperties, type FocusEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { File } from '@/api';
import { Form } from './engine/form';
import { loadPatterns, needsPatterns, patternsLoaded } from './engine/pattern';
import type { Field, Problem, Values } from './engine/types';
import { FieldFrame } from './FieldFrame';
import classes from './FieldFrame.module.css';
import { FormAroundProvider } from './FormContext';
import { fieldKind } from './registry';

export interface FormViewProps {
  fields: readonly Field[];
  /** What the form shows and its conditions look at: seeded, static, generated and earlier values. */
  values: Values;
  /** The answers so far, to the contributor's fields of this form. */
  answers: Values;
  /** Called with undefined when an answer is taken back. Without it, the form is for reading. */
  onChange?: (name: string, value: unknown) => void;
  /** Of the last check or the server; shown at their fields. */
  problems?: readonly Problem[];
  files?: readonly File[];
  disabled?: boolean;
  /** Names of fields to stand out, as for a reviewer. */
  highlight?: readonly string[];
  /** Put under a field: comments, a verdict, an earlier answer. */
  after?: (field: Field) => ReactNode;
  /** Tells that a field's media was played or read to its end. */
  onPlayed?: (name: string) => void;
  played?: ReadonlySet<string>;
  /** Digits and option keys answer the field that has the focus, at first the first one. */
  keys?: boolean;
}

const none: readonly Problem[] = [];

/** The compiled form of fields, again once their patterns can be matched. */
export function useForm(fields: readonly Field[]): Form {
  const [ready, setReady] = useState(() => patternsLoaded() || !needsPatterns(fields));
  useEffect(() => {
    let current = true;
    loadPatterns(fields).then(
      () => current && setReady(true),
      () => {}, // offline: the server checks them
    );
    return () => {
      current = false;
    };
  }, [fields]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: patterns compile when the form is made
  return useMemo(() => new Form(fields), [fields, ready]);
}

/** A form as its definition lays it out: what is hidden is not there. */
export function FormView(p: FormViewProps) {
  const form = useForm(p.fields);
  const context = useMemo(() => ({ ...form.statics, ...p.values, ...p.answers }), [form, p.values, p.answers]);
  const shown = form.visible(context);
  const [focused, setFocused] = useState('');
  const { onPlayed, played } = p;
  const around = useMemo(
    () => ({ field: (name: string) => form.fields.find((f) => f.name === name), onPlayed, played }),
    [form, onPlayed, played],
  );
  const byField = useMemo(() => grouped(p.problems ?? none), [p.problems]);

  const repeated = useMemo(() => repeatedBelow(form.fields), [form]);
  const visible = form.fields.filter((f) => shown[f.name] && !(p.onChange && repeated.has(f.name)));
  const keyed = visible.filter((f) => f.input === 'contributor' && fieldKind(f.type)?.keyed);
  const active = p.keys && p.onChange ? (keyed.find((f) => f.name === focused) ?? keyed[0])?.name : undefined;
  const onFocus = (e: FocusEvent) => {
    const name = e.target.closest('[data-field]')?.getAttribute('data-field');
    if (name) setFocused(name);
  };
  // Problems of what is not on the page, such as of the form as a whole.
  const elsewhere = (p.problems ?? none).filter((problem) => !visible.some((f) => f.name === problem.field));
  return (
    <FormAroundProvider value={around}>
      <Stack gap="md" onFocusCapture={onFocus}>
        {elsewhere.map((problem) => (
          <Text key={problem.field + problem.message} c="var(--mantine-color-error)" size="sm" role="alert">
            {problem.field && `${problem.field}: `}
            {problem.message}
          </Text>
        ))}
        <div className={classes.grid}>
          {visible.map((field) => (
            <Box key={field.name} className={classes.cell} style={{ '--width': field.width || 12 } as CSSProperties}>
              <FieldFrame
                field={field}
                value={context[field.name]}
                context={needsContext(field) ? context : p.values}
                onChange={p.onChange}
                problems={byField.get(field.name)}
                files={p.files}
                disabled={p.disabled}
                keys={field.name === active}
                highlight={p.highlight?.includes(field.name)}
                after={p.after?.(field)}
                onPlayed={onPlayed}
                played={played?.has(field.name)}
              />
            </Box>
          ))}
        </div>
      </Stack>
    </FormAroundProvider>
  );
}

/**
 * Fields that a pairwise shows side by side, or whose text is marked, right below them: they would stand there twice.
 * With another thing to fill in between, they are needed where they are.
 */
function repeatedBelow(fields: readonly Field[]): ReadonlySet<string> {
  const repeated = new Set<string>();
  let given = new Set<string>();
  for (const f of fields) {
    if (f.input !== 'contributor') {
      given.add(f.name);
      continue;
    }
    const sources = f.visible_when ? [] : f.type === 'text_spans' ? [f.source ?? ''] : (f.sources ?? []);
    for (const name of sources) if (given.has(name)) repeated.add(name);
    given = new Set();
  }
  return repeated;
}

function grouped(problems: readonly Problem[]): Map<string, Problem[]> {
  const byField = new Map<string, Problem[]>();
  for (const p of problems) byField.set(p.field, [...(byField.get(p.field) ?? []), p]);
  return byField;
}

/** Only what shows another field is drawn again when that one changes. */
function needsContext(field: Field): boolean {
  return Boolean(field.source || field.sources?.length);
}

/** Brings the first field with a problem into view and the focus to its first control. */
export function focusProblem(problems: readonly Problem[]) {
  const name = problems.find((p) => p.field)?.field;
  const el = name && document.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`);
  if (!el) return;
  el.scrollIntoView({ block: 'center', behavior: 'instant' });
  const control =
    '[aria-invalid="true"],input:not([type=hidden],[hidden]),textarea,select,[contenteditable="true"],button,[tabindex="0"]';
  const target = el.querySelector<HTMLElement>('[aria-invalid="true"]') ?? el.querySelector<HTMLElement>(control) ?? el;
  if (target === el) el.tabIndex = -1;
  target.focus({ preventScroll: true });
}
