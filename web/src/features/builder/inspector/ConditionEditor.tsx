import { ActionIcon, Button, Group, SegmentedControl, Select, Stack, Text, Tooltip } from '@mantine/core';
import { IconCode, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import {
  dateOpLabels,
  editable,
  inWords,
  newLeaf,
  opLabels,
  opsFor,
  partsOf,
  reshape,
  type Shape,
  shapeOf,
  subject,
  withField,
  withOp,
} from '@/pipeline/conditions';
import type { Condition, Field, Op } from '@/pipeline/definition';
import { Notice } from '../Notice';
import { PartOf, usePart } from '../state/context';
import { ConditionValue } from './ConditionValue';
import { fieldChoices, once } from './choices';
import { PartBox } from './controls';
import classes from './inspector.module.css';
import { JSONArea } from './JSONArea';

interface Props {
  /** The key in the definition: visible_when or when. */
  part: string;
  value: Condition | undefined;
  onChange: (value: Condition | undefined, tag?: string) => void;
  /** The fields that it may look at. */
  known: readonly Field[];
  /** Offers the first condition: "Show only when…". */
  start: string;
  /** Why nothing can be chosen. */
  none: string;
}

/** A condition: leaves about fields, joined by all, any and not; what is too special for that is edited as JSON. */
export function ConditionEditor({ part, value, onChange, known, start, none }: Props) {
  const [raw, setRaw] = useState(false);
  if (!value) {
    if (known.length === 0) {
      return (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      );
    }
    return (
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPlus size={14} />}
        data-part={part}
        onClick={() => onChange(newLeaf(known.at(-1)))}
        style={{ alignSelf: 'flex-start' }}
      >
        {start}
      </Button>
    );
  }
  const simple = editable(value);
  return (
    <PartBox part={part}>
      <PartOf name={part}>
        <Stack gap="xs">
          {simple && (
            <Text size="sm" c="dimmed">
              {inWords(value)}
            </Text>
          )}
          {!simple && (
            <Notice color="yellow" variant="light">
              This condition is not of a form that can be shown here; edit it as JSON.
            </Notice>
          )}
          {raw || !simple ? (
            <JSONArea
              label="Condition as JSON"
              value={value}
              onChange={(v) => onChange(v as Condition, 'condition json')}
            />
          ) : (
            <Branch value={value} onChange={onChange} known={known} onRemove={() => onChange(undefined)} />
          )}
          <Group gap="xs">
            <Button
              size="compact-xs"
              variant="subtle"
              leftSection={<IconCode size={14} />}
              disabled={!simple}
              aria-pressed={raw}
              onClick={() => setRaw(!raw)}
            >
              {raw ? 'Edit in the form' : 'Edit as JSON'}
            </Button>
            <Button size="compact-xs" variant="subtle" color="red" onClick={() => onChange(undefined)}>
              Remove the condition
            </Button>
          </Group>
        </Stack>
      </PartOf>
    </PartBox>
  );
}

interface BranchProps {
  value: Condition;
  onChange: (value: Condition, tag?: string) => void;
  known: readonly Field[];
  onRemove: () => void;
}

const joins = [
  { value: 'leaf', label: 'One' },
  { value: 'all', label: 'All of' },
  { value: 'any', label: 'Any of' },
  { value: 'not', label: 'Not' },
];

function Branch({ value, onChange, known, onRemove }: BranchProps) {
  const shape = shapeOf(value);
  const several = value.all ?? value.any;
  const toShape = (to: string) => onChange(reshape(value, to as Shape));
  const key = value.all ? 'all' : 'any';
  const setList = (list: Condition[], tag?: string) => onChange(key === 'all' ? { all: list } : { any: list }, tag);
  // Several conditions cannot become a single one without losing some.
  const data = several && several.length > 1 ? joins.filter((j) => j.value !== 'leaf') : joins;
  return (
    <Stack gap={6}>
      <Group gap={6} justify="space-between" wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label="How the conditions are joined"
          data={data}
          value={shape}
          onChange={toShape}
        />
        <Tooltip label="Remove">
          <ActionIcon variant="subtle" color="gray" aria-label="Remove this condition" onClick={onRemove}>
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {shape === 'leaf' && <Leaf value={value} onChange={onChange} known={known} />}
      {value.not && (
        <div className={classes.group}>
          <PartOf name="not">
            <Branch
              value={value.not}
              known={known}
              onChange={(not, tag) => onChange({ not }, tag)}
              onRemove={onRemove}
            />
          </PartOf>
        </div>
      )}
      {several && (
        <Stack gap="sm" className={classes.group}>
          {several.map((c, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have nothing but their place
            <PartOf key={i} name={`${key}[${i}]`}>
              <Branch
                value={c}
                known={known}
                onChange={(next, tag) =>
                  setList(
                    several.map((x, j) => (j === i ? next : x)),
                    tag && `${tag} ${i}`,
                  )
                }
                onRemove={() => (several.length > 1 ? setList(several.filter((_, j) => j !== i)) : onRemove())}
              />
            </PartOf>
          ))}
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPlus size={12} />}
            onClick={() => setList([...several, newLeaf(known.at(-1))])}
            style={{ alignSelf: 'flex-start' }}
          >
            Add a condition
          </Button>
        </Stack>
      )}
    </Stack>
  );
}

function Leaf({ value, onChange, known }: Omit<BranchProps, 'onRemove'>) {
  const field = usePart('field');
  const op = usePart('op');
  const about = value.field ? subject(value.field, known) : undefined;
  const refs = once(
    known.flatMap((f) => {
      const own = fieldChoices([f]);
      const name = own[0]?.label ?? f.name;
      return [...own, ...partsOf(f).map((p) => ({ value: `${f.name}.${p.key}`, label: `${name} · ${p.label}` }))];
    }),
  );
  const current = value.field ?? '';
  const data =
    current && !refs.some((r) => r.value === current)
      ? [...refs, { value: current, label: about ? current : `${current} (not before this)` }]
      : refs;
  const moments = about?.type === 'date' || about?.type === 'datetime';
  const ops = about ? opsFor(about) : [];
  const shown = value.op && !ops.includes(value.op) ? [...ops, value.op] : ops;
  return (
    <Stack gap={6}>
      <Group gap={6} grow align="flex-start">
        <Select
          {...field}
          aria-label="Field"
          placeholder="Field"
          searchable={data.length > 8}
          allowDeselect={false}
          data={data}
          value={current || null}
          onChange={(ref) => ref && onChange(withField(value, ref, known))}
        />
        <Select
          {...op}
          aria-label="Comparison"
          allowDeselect={false}
          data={shown.map((o) => ({ value: o, label: (moments && dateOpLabels[o]) || opLabels[o] || o }))}
          value={value.op ?? null}
          onChange={(o) => o && onChange(withOp(value, o as Op, known))}
        />
      </Group>
      <ConditionValue
        leaf={value}
        about={about}
        onChange={(v) => onChange({ ...value, value: v }, 'condition value')}
      />
    </Stack>
  );
}
