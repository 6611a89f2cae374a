import { useEffect, useRef } from 'react';
import { addLayer, type Binding } from './registry';

export { ariaKeys, isSingle, keyCaps } from './keys';
export { type Binding, bindings, governed } from './registry';

/**
 * Shortcuts that work while the component is mounted. What is mounted later
 * comes first: a page overrides the frame, a panel overrides its page.
 */
export function useHotkeys(list: Binding[]) {
  const current = useRef(list);
  useEffect(() => {
    current.current = list;
  });
  useEffect(() => addLayer(current), []);
}
