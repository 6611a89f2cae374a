import { Group, Stack, Switch, Text } from '@mantine/core';
import { type UIEvent, useRef, useState } from 'react';
import { choicesOf } from '../engine/kinds/pairwise';
import { stepLabel } from '../engine/kinds/rating';
import { fieldLabel } from '../engine/options';
import { isObject, type JSONObject, member } from '../engine/value';
import { useFormAround } from '../FormContext';
import type { DisplayProps, InputProps } from '../props';
import { ChoiceBar } from './ChoiceBar';
import { useFieldKeys } from './keys';
import classes from './pairwise.module.css';
import { stepsOf } from './rating';
import { ValueView } from './ValueView';

const labels: Record<string, string> = { a: 'A is better', b: 'B is better', tie: 'Equal', both_bad: 'Both are bad' };
const keys: Record<string, string> = { a: 'ArrowLeft', b: 'ArrowRight', tie: '=', both_bad: '0' };

/** Two texts beside each other and which one is better; A always stands on the left. */
export function PairwiseInput(p: InputProps) {
  const value: JSONObject = isObject(p.value) ? p.value : {};
  const choice = member(value, 'choice');
  const choices = choicesOf(p.field);
  const pick = (c: string) => {
    const { strength, ...rest } = value;
    const keep = strength !== undefined && (c === 'a' || c === 'b') ? { strength } : {};
    p.onChange({ ...rest, ...keep, choice: c, ...(sources.length === 2 ? { shown_left: 'a' } : {}) });
  };
  const sources = p.field.sources ?? [];
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    choices.map((c) => ({ keys: keys[c] ?? '', label: labels[c] ?? c, run: () => pick(c) })),
  );
  const strengths = p.field.scale;
  const strength = member(value, 'strength');
  return (
    <Stack gap="sm">
      {sources.length === 2 && <Panes {...p} chosen={typeof choice === 'string' ? choice : ''} />}
      <ChoiceBar
        name={p.id}
        labelledBy={p.label ? undefined : `${p.id}-label`}
        label={p.label}
        describedBy={p.describedBy}
        choices={choices.map((c) => ({ value: c, label: labels[c] ?? c, keys: p.keys ? keys[c] : undefined }))}
        value={typeof choice === 'string' ? choice : undefined}
        onChange={pick}
        disabled={p.disabled}
      />
      {strengths && (choice === 'a' || choice === 'b') && (
        <Group gap="sm">
          <Text size="sm">How much better?</Text>
          <ChoiceBar
            name={`${p.id}-strength`}
            label="How much better?"
            choices={stepsOf(strengths).map((n) => ({
              value: String(n),
              label: [n, stepLabel(strengths, n)].filter((x) => x !== '').join(' · '),
            }))}
            value={strength === undefined ? undefined : String(strength)}
            onChange={(s) => p.onChange({ ...value, strength: Number(s) })}
            disabled={p.disabled}
          />
        </Group>
      )}
    </Stack>
  );
}

/** The two sides; scrolling one scrolls the other by the same share. */
function Panes({ field, context, files, chosen }: DisplayProps & { chosen: string }) {
  const around = useFormAround();
  const panes = useRef<(HTMLDivElement | null)[]>([]);
  const led = useRef<Element | null>(null);
  const [synced, setSynced] = useState(true);
  const follow = (e: UIEvent<HTMLDivElement>) => {
    const from = e.currentTarget;
    if (led.current === from) {
      led.current = null; // moved by the other side
      return;
    }
    if (!synced) return;
    const share = from.scrollTop / Math.max(1, from.scrollHeight - from.clientHeight);
    for (const to of panes.current) {
      if (!to || to === from) continue;
      const top = Math.round(share * (to.scrollHeight - to.clientHeight));
      if (Math.abs(to.scrollTop - top) < 1) continue;
      led.current = to;
      to.scrollTop = top;
    }
  };
  const title = (name: string) => {
    const source = around.field(name);
    return source?.title ? fieldLabel(source) : '';
  };
  return (
    <Stack gap={6}>
      <div className={classes.panes}>
        {(field.sources ?? []).map((name, i) => {
          const side = i === 0 ? 'A' : 'B';
          return (
            <section key={name} className={classes.pane} data-chosen={chosen === side.toLowerCase() || undefined}>
              <div className={classes.head}>{[side, title(name)].filter(Boolean).join(' · ')}</div>
              {/* biome-ignore lint/a11y/useSemanticElements: a region that scrolls, inside its section */}
              <div
                className={classes.body}
                ref={(el) => {
                  panes.current[i] = el;
                }}
                onScroll={follow}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
                tabIndex={0}
                role="region"
                aria-label={`Side ${side}`}
              >
                <ValueView name={name} context={context} files={files} />
              </div>
            </section>
          );
        })}
      </div>
      <Switch
        size="xs"
        label="Scroll both sides together"
        checked={synced}
        onChange={(e) => setSynced(e.currentTarget.checked)}
      />
    </Stack>
  );
}

export function PairwiseDisplay({ value, field }: DisplayProps) {
  const choice = String(member(value, 'choice') ?? '');
  const strength = member(value, 'strength');
  const said = typeof strength === 'number' && field.scale ? stepLabel(field.scale, strength) : '';
  return (
    <Text>
      {labels[choice] ?? choice}
      {strength !== undefined && strength !== null && `, strength ${strength}${said && ` (${said})`}`}
    </Text>
  );
}
