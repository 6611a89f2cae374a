import { ActionIcon, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { type CSSProperties, type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { ariaKeys } from '@/lib/hotkeys';
import { fieldLabel, optionLabel } from '../engine/options';
import type { Option } from '../engine/types';
import type { DisplayProps, InputProps } from '../props';
import { Swatch, WithKey } from './ChoiceBar';
import { optionKeys, useFieldKeys } from './keys';
import { Amount } from './list';
import { Pointless } from './Pointless';
import { partProblems } from './parts';
import classes from './spans.module.css';
import { pointsOf, type Segment, type Span, segmentsOf, spansOf, step, trimmed, withSpan } from './spanText';

const palette = ['blue', 'orange', 'grape', 'teal', 'red', 'lime', 'indigo', 'yellow', 'pink', 'cyan'];

/** Labels with a colour each, their own or one by their place. */
function colored(labels: readonly Option[]): Option[] {
  return labels.map((l, i) => ({ ...l, color: l.color ?? palette[i % palette.length] }));
}

function cssColor(color: string | undefined): string {
  return color?.startsWith('#') ? color : `var(--mantine-color-${color ?? 'gray'}-6)`;
}

/**
 * Marks parts of another field's text. By mouse: select, then a label. By keyboard: arrows move a caret through the
 * text, with Ctrl by words, with Shift they select; a label's key marks what is selected.
 */
export function SpansInput(p: InputProps) {
  const points = pointsOf(p.context[p.field.source ?? '']);
  const spans = spansOf(p.value);
  const labels = colored(p.field.labels ?? []);
  const keys = optionKeys(labels);
  const text = useRef<HTMLDivElement>(null);
  const [[anchor, head], setRange] = useState<[number, number]>([0, 0]);
  const [focused, setFocused] = useState(false);
  const [said, setSaid] = useState('');
  const selection = trimmed(points, anchor, head);
  const set = (next: Span[]) => p.onChange(next.length > 0 ? next : undefined);

  const mark = (label: string) => {
    if (!selection) {
      setSaid('Select a part of the text first.');
      return;
    }
    const [start, end] = selection;
    const clash = spans.find((s) => s.start < end && s.end > start);
    if (clash && !p.field.allow_overlap && !(clash.start === start && clash.end === end)) {
      setSaid(`That overlaps “${clash.text ?? points.slice(clash.start, clash.end).join('')}”.`);
      return;
    }
    const rest = p.field.allow_overlap ? spans : spans.filter((s) => s !== clash);
    set(withSpan(rest, points, selection, label));
    setSaid(`“${points.slice(start, end).join('')}” is marked ${label}.`);
    setRange([end, end]);
  };
  useFieldKeys(
    p.keys && !p.disabled,
    p.field,
    labels.flatMap((l, i) => {
      const key = keys[i];
      return key ? [{ keys: key, label: `Mark as ${optionLabel(l)}`, run: () => mark(l.value) }] : [];
    }),
  );

  const onSelect = () => {
    const picked = window.getSelection();
    if (!picked || picked.isCollapsed || !text.current?.contains(picked.anchorNode)) return;
    const [from, to] = [
      offsetOf(picked.anchorNode, picked.anchorOffset),
      offsetOf(picked.focusNode, picked.focusOffset),
    ];
    if (from === undefined || to === undefined) return;
    setRange([from, to]);
    setSaid('');
    picked.removeAllRanges();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
    let to: number | undefined;
    if (by !== 0) to = step(points, head, by, e.ctrlKey || e.altKey);
    else if (e.key === 'Home') to = 0;
    else if (e.key === 'End') to = points.length;
    else if ((e.key === 'Delete' || e.key === 'Backspace') && !p.disabled) {
      set(spans.filter((s) => !(s.start <= head && s.end >= head)));
    } else return;
    e.preventDefault();
    if (to !== undefined) setRange([e.shiftKey ? anchor : to, to]);
  };

  if (points.length === 0) return <Pointless {...p} why="There is no text to mark." />;
  return (
    <Stack gap="xs">
      <Group gap={6}>
        {labels.map((l, i) => (
          <WithKey key={l.value} keys={p.keys ? keys[i] : undefined}>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Swatch color={l.color} />}
              onMouseDown={(e) => e.preventDefault()}
              onClick={() => mark(l.value)}
              disabled={p.disabled}
              title={l.description}
              aria-keyshortcuts={keys[i] && ariaKeys(keys[i])}
            >
              {optionLabel(l)}
            </Button>
          </WithKey>
        ))}
      </Group>
      {/* biome-ignore lint/a11y/useSemanticElements: a text with a caret of its own, which no element has */}
      <div
        id={p.id}
        ref={text}
        className={classes.text}
        role="group"
        aria-roledescription="text to mark"
        aria-label={`${p.label ?? fieldLabel(p.field)}: arrows move, Shift selects, a label marks`}
        aria-describedby={p.describedBy}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys
        tabIndex={0}
        onMouseUp={onSelect}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <Marked
          segments={segmentsOf(points, spans, [Math.min(anchor, head), Math.max(anchor, head)])}
          spans={spans}
          labels={labels}
          caret={focused ? head : undefined}
        />
      </div>
      <Group justify="space-between">
        <Text size="xs" c="dimmed" role="status">
          {said ||
            (selection
              ? `Selected: “${points
                  .slice(...selection)
                  .join('')
                  .slice(0, 60)}”`
              : '')}
        </Text>
        <Amount n={spans.length} field={p.field} one="mark" many="marks" />
      </Group>
      <SpanList {...p} spans={spans} labels={labels} set={set} />
    </Stack>
  );
}

/** Every mark on a line of its own, to change its label and to take it away. */
function SpanList(p: InputProps & { spans: Span[]; labels: Option[]; set: (spans: Span[]) => void }) {
  return p.spans.map((s, i) => (
    <Group key={`${s.start}-${s.end}-${s.label}`} gap="xs" wrap="nowrap">
      <NativeSelect
        size="xs"
        data={p.labels.map((l) => ({ value: l.value, label: optionLabel(l) }))}
        value={s.label}
        onChange={(e) => p.set(p.spans.map((old, j) => (j === i ? { ...old, label: e.currentTarget.value } : old)))}
        disabled={p.disabled}
        aria-label={`Label of mark ${i + 1}`}
      />
      <Text size="sm" flex={1} lineClamp={1}>
        {s.text}
        {partProblems(p.problems, i).map((problem) => (
          <Text key={problem.message} span size="xs" c="var(--mantine-color-error)">
            {' '}
            {problem.message}
          </Text>
        ))}
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        onClick={() => p.set(p.spans.filter((_, j) => j !== i))}
        disabled={p.disabled}
        aria-label={`Remove mark ${i + 1}`}
      >
        <IconX size={16} />
      </ActionIcon>
    </Group>
  ));
}

interface MarkedProps {
  segments: Segment[];
  spans: readonly Span[];
  labels: readonly Option[];
  caret?: number;
}

function Marked({ segments, spans, labels, caret }: MarkedProps) {
  const out: ReactNode[] = [];
  for (const segment of segments) {
    if (caret === segment.start) out.push(<span key="caret" className={classes.caret} aria-hidden="true" />);
    const top = spans[segment.spans.at(-1) ?? -1];
    const end = segment.start + [...segment.text].length;
    const tags = segment.spans.filter((i) => spans[i]?.end === end).map((i) => spans[i]?.label);
    const label = labels.find((l) => l.value === top?.label);
    const style = top ? ({ '--span-color': cssColor(label?.color) } as CSSProperties) : undefined;
    const names = [top && classes.mark, segment.selected && classes.selected].filter(Boolean).join(' ');
    out.push(
      top ? (
        <mark key={segment.start} className={names} style={style}>
          <span data-start={segment.start}>{segment.text}</span>
          {tags.length > 0 && <span className={classes.tag}>{tags.join(' ')}</span>}
        </mark>
      ) : (
        <span key={segment.start} className={names || undefined} data-start={segment.start}>
          {segment.text}
        </span>
      ),
    );
  }
  const last = segments.at(-1);
  if (last && caret === last.start + [...last.text].length) {
    out.push(<span key="caret" className={classes.caret} aria-hidden="true" />);
  }
  return out;
}

/** The code point offset of a place in the rendered text. */
function offsetOf(node: Node | null, units: number): number | undefined {
  const el = node instanceof Element ? node : node?.parentElement;
  const run = el?.closest('[data-start]');
  if (run) {
    const before =
      node instanceof Element ? (units > 0 ? (run.textContent ?? '') : '') : (node?.textContent ?? '').slice(0, units);
    return Number(run.getAttribute('data-start')) + [...before].length;
  }
  // Between runs, as after a tag or at an end: the run before decides.
  const runs = [...(el?.querySelectorAll('[data-start]') ?? [])];
  const near = runs[Math.min(units, runs.length) - 1] ?? el?.parentElement?.querySelector('[data-start]');
  return near ? Number(near.getAttribute('data-start')) + [...(near.textContent ?? '')].length : undefined;
}

export function SpansDisplay({ field, value, context }: DisplayProps) {
  const points = pointsOf(context[field.source ?? '']);
  const spans = spansOf(value);
  const labels = colored(field.labels ?? []);
  if (points.length === 0) return <Text>{spans.map((s) => `${s.text ?? ''} (${s.label})`).join(', ')}</Text>;
  return (
    <div className={classes.shown}>
      <Marked segments={segmentsOf(points, spans)} spans={spans} labels={labels} />
    </div>
  );
}
