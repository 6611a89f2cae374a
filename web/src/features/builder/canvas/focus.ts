/** The element of a node on the canvas. */
export function nodeElement(key: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(key)}"]`);
}

/** Gives a node the focus once it is drawn; it may have been added just now. */
export function focusNode(key: string, tries = 12) {
  const el = nodeElement(key);
  if (el && getComputedStyle(el).visibility !== 'hidden') el.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusNode(key, tries - 1));
}

/** The node or edge that has the focus. */
export function focused(): { node?: string; edge?: number } {
  const el = document.activeElement?.closest<HTMLElement>('.react-flow__node, .react-flow__edge');
  const id = el?.dataset.id;
  if (id === undefined) return {};
  return el?.classList.contains('react-flow__node') ? { node: id } : { edge: Number(id) };
}

export function inCanvas(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('.react-flow') !== null;
}
