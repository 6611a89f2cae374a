import classes from './StatusBadge.module.css';

const colors: Record<string, string> = {
  ACTIVE: 'teal',
  PAUSED: 'yellow',
  DRAFT: 'gray',
  COMPLETED: 'blue',
  ARCHIVED: 'gray',
  PENDING_ACTIVATION: 'yellow',
  pending: 'gray',
  in_progress: 'cyan',
  finished: 'teal',
  failed: 'red',
  paused: 'yellow',
  escalated: 'orange',
  quarantined: 'red',
  available: 'cyan',
  claimed: 'blue',
  submitted: 'violet',
  deferred: 'gray',
  na: 'gray',
  processing: 'cyan',
  completed: 'teal',
  cancelled: 'gray',
  open: 'cyan',
  accepted: 'teal',
  expired: 'gray',
  revoked: 'gray',
  active: 'teal',
};

const hollow = new Set(['pending', 'in_progress', 'DRAFT', 'available', 'deferred', 'na', 'processing', 'open']);

const words: Record<string, string> = { na: 'not needed', PENDING_ACTIVATION: 'activating' };

/** The status of a pipeline, a task, a node or an upload, in the product's words. */
export function StatusBadge({ status, children }: { status: string; children?: React.ReactNode }) {
  return (
    <span className={classes.badge}>
      <StatusDot status={status} />
      {children ?? words[status] ?? status.replaceAll('_', ' ').toLowerCase()}
    </span>
  );
}

/** Only the colour, beside words that say it, too. */
export function StatusDot({ status }: { status: string }) {
  const color = colors[status] ?? 'gray';
  return (
    <span
      className={classes.dot}
      data-hollow={hollow.has(status) || undefined}
      style={{ '--dot': `var(--mantine-color-${color}-${color === 'yellow' ? 5 : 6})` } as React.CSSProperties}
      aria-hidden="true"
    />
  );
}
