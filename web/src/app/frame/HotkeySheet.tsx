import { Anchor, Modal, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type Binding, bindings, governed, keyCaps } from '@/lib/hotkeys';
import { usePrefs } from '@/lib/prefs';
import classes from './HotkeySheet.module.css';

/** Every shortcut of the page that is open, by what it is for. */
export default function HotkeySheet({ close }: { close: () => void }) {
  const { singleKeys } = usePrefs();
  const listed = bindings().filter((b) => !b.hidden && (singleKeys || !governed(b)));
  return (
    <Modal opened onClose={close} title="Keyboard shortcuts" size="lg">
      <div className={classes.groups}>
        {[...byGroup(listed)].map(([group, list]) => (
          <section key={group}>
            <h3 className={classes.title}>{group}</h3>
            <dl className={classes.list}>
              {list.map((b) => (
                <div key={b.label} className={classes.row}>
                  <dt>{b.label}</dt>
                  <dd>
                    {b.keys.map((keys, i) => (
                      <span key={keys}>
                        {i > 0 && <span className={classes.or}>or</span>}
                        {keyCaps(keys).map((cap) => (
                          <kbd key={cap} className={classes.key}>
                            {cap}
                          </kbd>
                        ))}
                      </span>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Text size="sm" c="dimmed" mt="lg">
        {singleKeys ? 'Keys without Ctrl or ⌘ do nothing while you type.' : 'Shortcuts of one character are off.'}{' '}
        <Anchor component={Link} to="/account" onClick={close} size="sm" underline="always">
          {singleKeys ? 'Switch them off' : 'Switch them on'}
        </Anchor>
      </Text>
    </Modal>
  );
}

/** Bindings of one label are one line with all their keys. */
function byGroup(list: Binding[]): Map<string, { label: string; keys: string[] }[]> {
  const groups = new Map<string, { label: string; keys: string[] }[]>();
  for (const b of list) {
    const group = groups.get(b.group) ?? [];
    groups.set(b.group, group);
    const line = group.find((l) => l.label === b.label);
    if (!line) group.push({ label: b.label, keys: [b.keys] });
    else if (!line.keys.includes(b.keys)) line.keys.push(b.keys);
  }
  return groups;
}
