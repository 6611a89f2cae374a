import { Button } from '@mantine/core';
import { IconAlertCircle, IconSparkles } from '@tabler/icons-react';
import { memo, type ReactNode, useCallback } from 'react';
import type { File } from '@/api';
import { fieldLabel } from './engine/options';
import type { Field, Problem, Values } from './engine/types';
import { empty } from './engine/value';
import classes from './FieldFrame.module.css';
import { problemText } from './problemText';
import { FieldDisplay, FieldInput, fieldKind } from './registry';
import { wholeProblems } from './types/parts';

interface Props {
  field: Field;
  value: unknown;
  context: Values;
  /** Absent: the field is for reading. */
  onChange?: (name: string, value: unknown) => void;
  problems?: readonly Problem[];
  files?: readonly File[];
  disabled?: boolean;
  keys?: boolean;
  highlight?: boolean;
  after?: ReactNode;
  onPlayed?: (name: string) => void;
  played?: boolean;
}

/** The element of a field on the page. */
export function fieldElementId(name: string): string {
  return `field-${name}`;
}

/** One field with its label, what explains it, its control or value, and what is wrong with it. */
export const FieldFrame = memo(function FieldFrame(p: Props) {
  const { field, onChange, onPlayed } = p;
  const { name } = field;
  const kind = fieldKind(field.type);
  const fills = field.input === 'contributor' && onChange !== undefined;
  const id = `input-${name}`;
  const change = useCallback((v: unknown) => onChange?.(name, v), [onChange, name]);
  const markPlayed = useCallback(() => onPlayed?.(name), [onPlayed, name]);
  const whole = wholeProblems(p.problems);
  const parts = (p.problems?.length ?? 0) - whole.length;
  const described = [field.description && `${id}-about`, whole.length > 0 && `${id}-problems`]
    .filter(Boolean)
    .join(' ');
  const bare = field.type === 'static_content';
  const quiet = bare && (!field.title || field.style === 'info' || field.style === 'warning');
  const clear = fills && kind?.clearable && !field.required && !p.disabled && !empty(p.value);
  return (
    <div
      id={fieldElementId(name)}
      className={classes.frame}
      data-field={name}
      data-highlight={p.highlight || undefined}
      {...(fills && kind?.group ? { role: 'group', 'aria-labelledby': `${id}-label` } : {})}
    >
      {!quiet && (
        <div className={classes.head}>
          {fills && !kind?.group ? (
            <label className={classes.label} htmlFor={id}>
              <Title field={field} star />
            </label>
          ) : (
            <span className={classes.label} id={`${id}-label`}>
              <Title field={field} star={fills} />
            </span>
          )}
          {field.input === 'llm' && (
            <span className={classes.mode}>
              <IconSparkles size={14} aria-hidden="true" /> written by a model
            </span>
          )}
          {clear && (
            <Button size="compact-xs" variant="subtle" color="gray" onClick={() => change(undefined)}>
              Clear
            </Button>
          )}
        </div>
      )}
      {field.description && field.type !== 'image' && (
        <div className={classes.description} id={`${id}-about`}>
          {field.description}
        </div>
      )}
      {fills ? (
        <FieldInput
          id={id}
          field={field}
          value={p.value}
          onChange={change}
          context={p.context}
          files={p.files}
          disabled={p.disabled}
          problems={p.problems}
          describedBy={described || undefined}
          keys={p.keys}
        />
      ) : (
        <div className={bare ? undefined : classes.given}>
          <FieldDisplay
            field={field}
            value={p.value}
            context={p.context}
            files={p.files}
            onPlayed={onPlayed && markPlayed}
            played={p.played}
          />
        </div>
      )}
      {(whole.length > 0 || parts > 0) && (
        <div id={`${id}-problems`}>
          {whole.map((problem) => (
            <div key={problem.message} className={classes.problem}>
              <IconAlertCircle size={16} style={{ flex: 'none', marginTop: 2 }} aria-hidden="true" />
              <span>{problemText(problem)}</span>
            </div>
          ))}
          {whole.length === 0 && (
            <div className={classes.problem}>
              <IconAlertCircle size={16} style={{ flex: 'none', marginTop: 2 }} aria-hidden="true" />
              <span>{parts === 1 ? 'One part of this needs a look.' : `${parts} parts of this need a look.`}</span>
            </div>
          )}
        </div>
      )}
      {p.after}
    </div>
  );
});

function Title({ field, star }: { field: Field; star: boolean }) {
  return (
    <>
      {fieldLabel(field)}
      {star && field.required && (
        <>
          <span className={classes.star} aria-hidden="true">
            {' '}
            *
          </span>
          <span className="sr-only"> (required)</span>
        </>
      )}
    </>
  );
}
