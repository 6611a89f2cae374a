import { Center, Loader } from '@mantine/core';
import { FlexRender, type Row, type RowSelectionState, type Updater, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, memo, useEffect, useRef } from 'react';
import { usePrefs } from '@/lib/prefs';
import { columns, features } from './columns';
import type { TaskRow } from './queries';
import classes from './TaskTable.module.css';

interface Props {
  tasks: TaskRow[];
  selected: RowSelectionState;
  onSelect: (updater: Updater<RowSelectionState>) => void;
  visible: Record<string, boolean>;
  /** The task that the side panel shows. */
  open: number | undefined;
  onOpen: (id: number) => void;
  /** Asks for the next page. */
  more?: () => void;
  loadingMore: boolean;
}

const rowHeights = { comfortable: 44, compact: 32 };
/** How many rows before the end the next page is asked for. */
const ahead = 30;
/** The head, a loader below the rows and a horizontal scroll bar, in pixels. */
const headHeight = 96;

/**
 * The tasks as a real table whose rows exist only where they can be seen;
 * rows of nothing keep the scroll bar honest.
 */
export function TaskTable({ tasks, selected, onSelect, visible, open, onOpen, more, loadingMore }: Props) {
  const region = useRef<HTMLDivElement>(null);
  const height = rowHeights[usePrefs().density];
  const table = useTable({
    features,
    columns,
    data: tasks,
    getRowId: (t: TaskRow) => String(t.id),
    state: { rowSelection: selected, columnVisibility: visible },
    onRowSelectionChange: onSelect,
  });
  const rows = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => height,
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 12,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density measures all rows anew
  useEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (more && !loadingMore && last >= rows.length - ahead) more();
  }, [more, loadingMore, last, rows.length]);
  // Keeps the row of the side panel in sight when it is chosen by keyboard.
  const at = open === undefined ? -1 : rows.findIndex((r) => r.original.id === open);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that arrive later must not scroll
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [open]);
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const width = table.getVisibleLeafColumns().length;
  return (
    <section
      ref={region}
      className={classes.region}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label="Tasks"
      // No taller than its rows need: a short list leaves no hole.
      style={{ '--rows-height': `${rows.length * height + headHeight}px` } as CSSProperties}
    >
      <table className={classes.table} aria-rowcount={more ? -1 : rows.length + 1}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} aria-rowindex={1}>
              {group.headers.map((header) => (
                <th key={header.id} scope="col" style={{ width: header.column.columnDef.meta?.width }}>
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} width={width} />}
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <TableRow
                key={row.id}
                row={row}
                index={item.index}
                height={height}
                selected={row.getIsSelected()}
                open={row.original.id === open}
                onOpen={onOpen}
                visible={visible}
              />
            );
          })}
          {after > 0 && <Spacer height={after} width={width} />}
        </tbody>
      </table>
      {loadingMore && (
        <Center p="xs">
          <Loader size="sm" aria-label="Loading more tasks" />
        </Center>
      )}
    </section>
  );
}

interface RowProps {
  row: Row<typeof features, TaskRow>;
  index: number;
  height: number;
  selected: boolean;
  open: boolean;
  onOpen: (id: number) => void;
  visible: Record<string, boolean>;
}

/** A row is drawn again only when something of its own changed, not while others scroll by. */
const TableRow = memo(function TableRow({ row, index, height, selected, open, onOpen }: RowProps) {
  const { id } = row.original;
  return (
    <tr
      aria-rowindex={index + 2}
      className={classes.row}
      style={{ height }}
      data-selected={selected || undefined}
      data-open={open || undefined}
      onClick={(e) => {
        const at = (e.target as Element).closest('a,button,input,label');
        if (at && !at.hasAttribute('data-peek')) return;
        if (e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
        e.preventDefault();
        onOpen(id);
      }}
    >
      {row.getVisibleCells().map((cell) => (
        <td key={cell.id}>
          <FlexRender cell={cell} />
        </td>
      ))}
    </tr>
  );
});

function Spacer({ height, width }: { height: number; width: number }) {
  return (
    <tr>
      <td className={classes.spacer} style={{ height }} colSpan={width} />
    </tr>
  );
}
