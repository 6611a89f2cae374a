import type { ReactNode } from 'react';
import classes from './List.module.css';

interface Props {
  /** What it lists, for those who do not see it. */
  label: string;
  /** Headings; an empty one is that of the actions. */
  columns: string[];
  /** On a narrow screen the labelled cells stand side by side: for short numbers. */
  tiles?: boolean;
  children: ReactNode;
}

/** A table that becomes cards on a narrow screen. For lists of some dozens of rows. */
export function List({ label, columns, tiles, children }: Props) {
  return (
    <div className={classes.scroll}>
      <table className={classes.table} data-tiles={tiles || undefined} aria-label={label}>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c} scope="col">
                {c || <span className="sr-only">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** One row; past is for what is over and only kept to look at. */
export function Row({ past, children }: { past?: boolean; children: ReactNode }) {
  return <tr data-past={past || undefined}>{children}</tr>;
}

/** A cell; its label stands before it on narrow screens. */
export function Cell({ label, children }: { label?: string; children: ReactNode }) {
  return <td data-label={label}>{children}</td>;
}

/** What can be done with the row; a single short one goes into the card's corner on narrow screens. */
export function Actions({ corner, children }: { corner?: boolean; children: ReactNode }) {
  return (
    <td className={classes.act} data-corner={corner || undefined}>
      {children}
    </td>
  );
}
