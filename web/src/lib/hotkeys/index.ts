import { useEffect, useRef, useState } from 'react';
import { addLayer, type Binding, nextRank } from './registry';

export { ariaKeys, isSingle, keyCaps } from './keys';
export { type Binding, bindings, governed, modalIsOpen } from './registry';

/**
 * Shortcuts that work while the component is mounted. What is drawn later for the first time comes first: a page
 * overrides the frame, a panel overrides its page. Effects could not tell: of what is mounted together, those of the
 * panel run before those of its page.
 */
export function useHotkeys(list: Binding[]) {
  const [rank] = useState(nextRank);
  const current = useRef(list);
  useEffect(() => {
    current.current = list;
  });
  useEffect(() => addLayer(current, rank), [rank]);
}
