import { isSingle, keyCaps } from '@/lib/hotkeys';
import { usePrefs } from '@/lib/prefs';
import classes from './Hotkey.module.css';

interface Props {
  keys: string;
  /** On a filled button: in the colour of its text. */
  onColor?: boolean;
}

/**
 * A shortcut printed on its control. Screen readers hear it from
 * `aria-keyshortcuts={ariaKeys(keys)}` on the control, touch screens show none.
 */
export function Hotkey({ keys, onColor }: Props) {
  const { singleKeys } = usePrefs();
  if (!singleKeys && isSingle(keys)) return null;
  return (
    <span className={classes.keys} data-on-color={onColor || undefined} aria-hidden="true">
      {keyCaps(keys).map((cap) => (
        <kbd key={cap} className={classes.key}>
          {cap}
        </kbd>
      ))}
    </span>
  );
}
