import { Text } from '@mantine/core';
import { defaults, type Field, labelOf } from '@/pipeline/definition';
import { useBuilder } from '../state/context';
import classes from './inspector.module.css';

/** How the fields stand in the form's grid of twelve columns. A picture: the list above it is what is operated. */
export function GridPreview({ fields, current }: { fields: readonly Field[]; current?: number }) {
  const { dispatch, selection } = useBuilder();
  const node = selection.nodes[0];
  return (
    <div className={classes.grid} aria-hidden="true">
      {fields.map((f, i) => (
        // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: a picture of the list above
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: fields are told apart by their place
          key={i}
          className={classes.cell}
          data-current={i === current || undefined}
          style={{ gridColumn: `span ${f.width ?? defaults.width}` }}
          onClick={() => node && dispatch({ type: 'select', selection: { nodes: [node], field: i } })}
        >
          <Text size="xs" truncate>
            {labelOf(f)}
          </Text>
        </div>
      ))}
    </div>
  );
}
