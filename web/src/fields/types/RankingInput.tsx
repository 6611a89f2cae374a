import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable';
import { ActionIcon, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconEqual, IconGripVertical } from '@tabler/icons-react';
import { type KeyboardEvent, useRef } from 'react';
import { rankItems } from '../engine/kinds/ranking';
import { fieldLabel, optionLabel } from '../engine/options';
import { empty } from '../engine/value';
import type { InputProps } from '../props';
import { Pointless } from './Pointless';
import { linesOf, moveLine, placesOf, type Ranked, rankingOf, ranks } from './rank';

/** Best first: by dragging, by Alt+arrows on a line, or by its buttons. */
export default function RankingInput(p: InputProps) {
  const items = rankItems(p.field, (name) => p.context[name]);
  const lines = linesOf(p.value, items);
  const places = placesOf(lines);
  const list = useRef<HTMLDivElement>(null);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const label = (id: string) => {
    const item = p.field.items?.find((o) => o.value === id);
    return item ? optionLabel(item) : id;
  };
  const set = (next: readonly Ranked[]) => p.onChange(rankingOf(next));
  const move = (from: number, to: number) => {
    if (to < 0 || to >= lines.length) return;
    const id = lines[from]?.id ?? '';
    set(moveLine(lines, from, to));
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus());
  };
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    const at = (id: unknown) => lines.findIndex((line) => line.id === id);
    if (over && active.id !== over.id) set(moveLine(lines, at(active.id), at(over.id)));
  };
  if (items.length === 0) return <Pointless {...p} why="There is nothing to rank yet." />;
  const named = (id: unknown) => label(String(id));
  return (
    <Stack gap="xs">
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{
          announcements: {
            onDragStart: ({ active }) => `${named(active.id)} is lifted.`,
            onDragOver: ({ active, over }) =>
              over ? `${named(active.id)} is at place ${lines.findIndex((l) => l.id === over.id) + 1}.` : '',
            onDragEnd: ({ active }) => `${named(active.id)} is put down.`,
            onDragCancel: ({ active }) => `${named(active.id)} is back where it was.`,
          },
        }}
      >
        <SortableContext items={lines.map((l) => l.id)} strategy={verticalListSortingStrategy} disabled={p.disabled}>
          <Stack gap={6} ref={list} role="list" aria-label={`${fieldLabel(p.field)}, best first`}>
            {lines.map((line, i) => (
              <Line
                key={line.id}
                line={line}
                label={label(line.id)}
                place={places[i] ?? 0}
                ties={p.field.allow_ties ?? false}
                first={i === 0}
                last={i === lines.length - 1}
                disabled={p.disabled}
                onMove={(by) => move(i, i + by)}
                onTie={() => set(lines.map((l, j) => (j === i ? { ...l, tied: !l.tied } : l)))}
              />
            ))}
          </Stack>
        </SortableContext>
      </DndContext>
      {!ranks(p.value, lines) && (
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            {empty(p.value) ? 'Not ranked yet.' : 'There are other items to rank now.'}
          </Text>
          <Button size="compact-sm" variant="light" onClick={() => set(lines)} disabled={p.disabled}>
            Keep this order
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface LineProps {
  line: Ranked;
  label: string;
  place: number;
  ties: boolean;
  first: boolean;
  last: boolean;
  disabled?: boolean;
  onMove: (by: number) => void;
  onTie: () => void;
}

function Line({ line, label, place, ties, first, last, disabled, onMove, onTie }: LineProps) {
  const s = useSortable({ id: line.id });
  const { x, y } = s.transform ?? { x: 0, y: 0 };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!e.altKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return;
    e.preventDefault();
    onMove(e.key === 'ArrowUp' ? -1 : 1);
  };
  return (
    <Paper
      withBorder
      ref={s.setNodeRef}
      role="listitem"
      px="xs"
      py={6}
      ml={line.tied ? 'lg' : 0}
      shadow={s.isDragging ? 'md' : undefined}
      style={{
        transform: `translate3d(${x}px, ${y}px, 0)`,
        transition: s.transition,
        zIndex: s.isDragging ? 1 : undefined,
        position: 'relative',
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <ActionIcon
          variant="subtle"
          color="gray"
          {...s.attributes}
          {...s.listeners}
          data-id={line.id}
          onKeyDown={(e) => {
            onKeyDown(e);
            if (!e.defaultPrevented) s.listeners?.onKeyDown?.(e);
          }}
          disabled={disabled}
          aria-label={`${label}, place ${place}. Alt and an arrow key move it`}
          style={{ cursor: 'grab', touchAction: 'none' }}
        >
          <IconGripVertical size={16} />
        </ActionIcon>
        <Text fw={600} miw={20} c={line.tied ? 'dimmed' : undefined}>
          {line.tied ? '=' : place}
        </Text>
        <Text flex={1} style={{ overflowWrap: 'anywhere' }}>
          {label}
        </Text>
        {ties && !first && (
          <ActionIcon
            variant={line.tied ? 'filled' : 'default'}
            onClick={onTie}
            disabled={disabled}
            aria-pressed={line.tied}
            aria-label={`${label}: as good as the one above`}
            title="As good as the one above"
          >
            <IconEqual size={16} />
          </ActionIcon>
        )}
        <ActionIcon
          variant="default"
          onClick={() => onMove(-1)}
          disabled={disabled || first}
          aria-label={`${label}: up`}
        >
          <IconArrowUp size={16} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          onClick={() => onMove(1)}
          disabled={disabled || last}
          aria-label={`${label}: down`}
        >
          <IconArrowDown size={16} />
        </ActionIcon>
      </Group>
    </Paper>
  );
}
