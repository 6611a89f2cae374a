import { useMantineTheme } from '@mantine/core';
import type { ReactNode } from 'react';
import { ariaKeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import classes from './ChoiceBar.module.css';

export interface Choice {
  value: string;
  label: string;
  hint?: string;
  color?: string;
  /** Printed on it; undefined when no key picks it now. */
  keys?: string;
}

interface Props {
  /** Groups the radios; unique on the page. */
  name: string;
  choices: readonly Choice[];
  value: string | undefined;
  onChange: (value: string) => void;
  disabled?: boolean;
  labelledBy?: string;
  label?: string;
  describedBy?: string;
}

/** Radios that look like buttons in a row. */
export function ChoiceBar({ name, choices, value, onChange, disabled, labelledBy, label, describedBy }: Props) {
  return (
    <div
      className={classes.bar}
      role="radiogroup"
      aria-labelledby={labelledBy}
      aria-label={label}
      aria-describedby={describedBy}
    >
      {choices.map((c) => (
        <label key={c.value} className={classes.choice} title={c.hint}>
          <input
            type="radio"
            className={classes.native}
            name={name}
            value={c.value}
            checked={value === c.value}
            onChange={() => onChange(c.value)}
            disabled={disabled}
            aria-keyshortcuts={c.keys && ariaKeys(c.keys)}
          />
          <Swatch color={c.color} />
          {c.label}
          <CornerKey keys={c.keys} />
        </label>
      ))}
    </div>
  );
}

/** The colour of an option: #rrggbb or a name of the theme; beside words, never instead of them. */
export function Swatch({ color }: { color?: string }) {
  const css = useColor(color);
  return css ? <span className={classes.swatch} style={{ background: css }} aria-hidden="true" /> : null;
}

/** The CSS of an option's colour, undefined when it has none that the theme knows. */
export function useColor(color: string | undefined): string | undefined {
  const theme = useMantineTheme();
  if (!color) return undefined;
  if (color.startsWith('#')) return color;
  return theme.colors[color] ? `var(--mantine-color-${color}-6)` : undefined;
}

/** A key on the corner of what it picks; its parent is positioned. */
export function CornerKey({ keys }: { keys: string | undefined }) {
  if (!keys) return null;
  return (
    <span className={classes.corner}>
      <Hotkey keys={keys} />
    </span>
  );
}

/** Puts a key on the corner of a control that has no place for it. */
export function WithKey({ keys, children }: { keys: string | undefined; children: ReactNode }) {
  return (
    <span className={classes.anchor}>
      {children}
      <CornerKey keys={keys} />
    </span>
  );
}
