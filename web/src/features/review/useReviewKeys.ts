import { useState } from 'react';
import { useHotkeys } from '@/lib/hotkeys';

interface Props {
  /** The fields under review that are shown, in order. */
  names: readonly string[];
  disabled: boolean;
  accept: () => void;
  acceptLabel: string;
  reject: () => void;
  escalate: () => void;
  judge: (name: string, verdict: 'ok' | 'wrong') => void;
  fix: (name: string) => void;
  save: () => void;
  instructions?: () => void;
}

const group = 'Review';

/** The keyboard of a review. One field is the current one; single keys act on it. */
export function useReviewKeys(p: Props) {
  const [chosen, setCurrent] = useState(p.names[0]);
  const current = chosen !== undefined && p.names.includes(chosen) ? chosen : p.names[0];
  const move = (by: number) => {
    const at = p.names.indexOf(current ?? '') + by;
    const next = p.names[at];
    if (next === undefined) return;
    setCurrent(next);
    document.getElementById(`review-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const on = (act: (name: string) => void) => () => (current === undefined ? false : act(current));
  const judge = (verdict: 'ok' | 'wrong') => on((name) => p.judge(name, verdict));
  const { disabled } = p;
  useHotkeys([
    { keys: 'mod+Enter', label: p.acceptLabel, group, run: p.accept, allowInInput: true, disabled },
    { keys: 'r', label: 'Reject…', group, run: p.reject, disabled },
    { keys: 'e', label: 'Escalate…', group, run: p.escalate, disabled },
    { keys: 'j', label: 'Next field', group, run: () => move(1), repeat: true },
    { keys: 'k', label: 'Previous field', group, run: () => move(-1), repeat: true },
    { keys: '1', label: 'The field is ok', group, run: judge('ok'), disabled },
    { keys: '2', label: 'The field is wrong', group, run: judge('wrong'), disabled },
    { keys: 'c', label: 'Comment on the field', group, run: on(comment), disabled },
    { keys: 'f', label: 'Fix the field here', group, run: on(p.fix), disabled },
    { keys: 'mod+s', label: 'Save the draft now', group, run: p.save, allowInInput: true },
    {
      keys: 'i',
      label: 'Instructions',
      group,
      run: () => p.instructions?.(),
      disabled: p.instructions === undefined,
    },
    { keys: 'Escape', label: 'Leave a field', group, run: blur, allowInInput: true },
  ]);
  return { current, setCurrent };
}

/** Opens the comment of a field, or goes to it where it is open. */
function comment(name: string) {
  const card = document.getElementById(`review-${name}`);
  const box = card?.querySelector<HTMLElement>(`[data-comment="${CSS.escape(name)}"]`);
  if (box) box.focus();
  else card?.querySelector<HTMLElement>(`[data-comment-button="${CSS.escape(name)}"]`)?.click();
}

function blur() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
