import { useDeferredValue, useMemo, useState } from 'react';

const step = 100;

/** A list narrowed by a text, shown a hundred at a time. */
export function useShown<T>(list: readonly T[], textOf: (item: T) => string) {
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(step);
  const wanted = useDeferredValue(filter.trim().toLowerCase());
  // biome-ignore lint/correctness/useExhaustiveDependencies: textOf is pure
  const fitting = useMemo(
    () => (wanted ? list.filter((item) => textOf(item).toLowerCase().includes(wanted)) : list),
    [list, wanted],
  );
  return {
    filter,
    setFilter,
    fitting,
    shown: fitting.slice(0, most),
    more: fitting.length > most ? () => setMost(most + step) : undefined,
  };
}
