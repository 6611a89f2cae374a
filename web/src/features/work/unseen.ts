/** For so long after it opened nobody has seen what they would hand in, in milliseconds. */
const moment = 600;

let opened = { claimId: '', at: 0 };

/** A claim opened by itself, in the place of the one that was handed in. */
export function openedByItself(claimId: string) {
  opened = { claimId, at: performance.now() };
}

/** Whether a click or a key is the second half of a double one: it was meant for the claim that was there before. */
export function isUnseen(claimId: string): boolean {
  return opened.claimId === claimId && performance.now() - opened.at < moment;
}
