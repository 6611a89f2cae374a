import type { RowSelectionState, Updater } from '@tanstack/react-table';
import { useCallback, useMemo, useState } from 'react';
import { type Filters, sameFilters } from './filters';

const none: RowSelectionState = {};

/**
 * The tasks that are chosen in a list. Another list, by its pipeline or by its filters, has nothing chosen, however it
 * came up: by a control, a saved view or the browser's back. What was chosen under other filters is easily forgotten.
 */
export function useSelection(pipelineId: number, filters: Filters) {
  const [state, setState] = useState({ pipelineId, filters, rows: none });
  const current = state.pipelineId === pipelineId && sameFilters(state.filters, filters);
  if (!current) setState({ pipelineId, filters, rows: none });
  const selected = current ? state.rows : none;
  const ids = useMemo(
    () =>
      Object.keys(selected)
        .filter((id) => selected[id])
        .map(Number),
    [selected],
  );
  const select = useCallback(
    (by: Updater<RowSelectionState>) => setState((s) => ({ ...s, rows: typeof by === 'function' ? by(s.rows) : by })),
    [],
  );
  return { selected, ids, select };
}
