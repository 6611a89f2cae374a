/** The control of a part of the definition: exactly that one, else what it is inside of, else the first inside it. */
export function findPart(root: ParentNode, part: string): HTMLElement | null {
  const all = [...root.querySelectorAll<HTMLElement>('[data-part]')];
  const inside = (long: string, short: string) =>
    short !== '' && (long.startsWith(`${short}.`) || long.startsWith(`${short}[`));
  const name = (el: HTMLElement) => el.dataset.part ?? '';
  const exact = all.find((el) => name(el) === part);
  if (exact) return exact;
  const around = all.filter((el) => inside(part, name(el))).sort((a, b) => name(b).length - name(a).length)[0];
  return around ?? all.find((el) => inside(name(el), part)) ?? null;
}

/** Gives a part the focus as soon as it is on the page; its panel may open just now. */
export function focusPartIn(root: () => ParentNode | null, part: string, tries = 120) {
  const at = root();
  const el = at && findPart(at, part);
  if (el) {
    const control = el.matches('input, textarea, select, button, [tabindex="0"]')
      ? el
      : (el.querySelector<HTMLElement>('input, textarea, select, button, [tabindex="0"], [contenteditable="true"]') ??
        el);
    control.scrollIntoView({ block: 'center' });
    control.focus({ preventScroll: true });
  } else if (tries > 0) {
    requestAnimationFrame(() => focusPartIn(root, part, tries - 1));
  }
}
