/** Also where the page came over plain HTTP: there browsers have no clipboard API. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not allowed: the old way may be.
  }
  const back = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  (back?.closest('[role="dialog"]') ?? document.body).append(area); // inside of a focus trap
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (back instanceof HTMLElement) back.focus();
  return done;
}
