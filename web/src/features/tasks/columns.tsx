import {
  columnVisibilityFeature,
  createColumnHelper,
  rowSelectionFeature,
  type Table,
  tableFeatures,
} from '@tanstack/react-table';
import { Ago } from '@/ui/Ago';
import { StatusBadge } from '@/ui/StatusBadge';
import { spaced } from './filters';
import type { TaskRow } from './queries';
import classes from './TaskTable.module.css';

/** How wide a column is, in pixels; one without takes what is left. */
interface Meta {
  width?: number;
  label: string;
}

export const features = tableFeatures({ rowSelectionFeature, columnVisibilityFeature, columnMeta: {} as Meta });

const helper = createColumnHelper<typeof features, TaskRow>();

/**
 * Cells are plain elements: a list draws hundreds of them while it scrolls,
 * and a router's link or a styled checkbox costs as much as a whole row.
 */
export const columns = helper.columns([
  helper.display({
    id: 'select',
    enableHiding: false,
    meta: { width: 44, label: 'Select' },
    header: ({ table }) => <SelectAll table={table} />,
    cell: ({ row }) => (
      <input
        type="checkbox"
        className={classes.check}
        aria-label={`Select task ${row.id}`}
        checked={row.getIsSelected()}
        onChange={row.getToggleSelectedHandler()}
      />
    ),
  }),
  helper.accessor('id', {
    header: 'Task',
    enableHiding: false,
    meta: { width: 92, label: 'Task' },
    // A plain click shows the side panel (TaskTable), any other way the link's own page.
    cell: ({ row }) => (
      <a className={classes.id} href={`/tasks/${row.original.id}`} data-peek>
        {row.original.id}
      </a>
    ),
  }),
  helper.accessor('status', {
    header: 'Status',
    meta: { width: 150, label: 'Status' },
    cell: ({ row }) => (
      <span className={classes.status}>
        <StatusBadge status={row.original.status} />
        {row.original.held && <span className={classes.hold}>hold</span>}
      </span>
    ),
  }),
  helper.accessor('at', {
    header: 'Where it stands',
    meta: { label: 'Where it stands' },
    cell: ({ row }) => <Where task={row.original} />,
  }),
  helper.accessor('node_summary', {
    header: 'Steps',
    meta: { width: 96, label: 'Steps' },
    cell: ({ row }) => {
      const s = row.original.node_summary;
      return (
        <span>
          <span className={classes.steps} aria-hidden="true">
            <span style={{ width: `${s.total ? (s.finished / s.total) * 100 : 0}%` }} />
          </span>
          <span className="sr-only">finished: </span>
          {s.finished}/{s.total}
        </span>
      );
    },
  }),
  helper.accessor('priority', {
    header: 'Priority',
    meta: { width: 76, label: 'Priority' },
    cell: ({ row }) => row.original.priority,
  }),
  helper.accessor('version', {
    header: 'Version',
    meta: { width: 76, label: 'Version' },
    cell: ({ row }) => row.original.version,
  }),
  helper.accessor('created_at', {
    header: 'Created',
    meta: { width: 136, label: 'Created' },
    cell: ({ row }) => <Ago at={row.original.created_at} />,
  }),
  helper.accessor('updated_at', {
    header: 'Changed',
    meta: { width: 136, label: 'Changed' },
    cell: ({ row }) => <Ago at={row.original.updated_at} />,
  }),
]);

/** The open steps of a task, in one line. */
function Where({ task }: { task: TaskRow }) {
  if (task.at.length === 0) return '–';
  const text = task.at.map((n) => `${n.title || n.node}: ${n.person ? `with ${n.person.name}` : spaced(n.status)}`);
  return (
    <span className={classes.where} title={text.join('\n')}>
      {text.join(' · ')}
    </span>
  );
}

/** Selects every task that is loaded. */
function SelectAll({ table }: { table: Table<typeof features, TaskRow> }) {
  const all = table.getIsAllRowsSelected();
  const some = !all && table.getIsSomeRowsSelected();
  return (
    <input
      type="checkbox"
      className={classes.check}
      aria-label="Select every task that is loaded"
      ref={(box) => {
        if (box) box.indeterminate = some;
      }}
      checked={all}
      onChange={table.getToggleAllRowsSelectedHandler()}
    />
  );
}
