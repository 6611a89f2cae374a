import { Modal, useMantineColorScheme } from '@mantine/core';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { leave } from '@/features/session/actions';
import { useMe } from '@/features/session/me';
import { recent } from '@/lib/recent';
import { Hotkey } from '@/ui/Hotkey';
import { notify } from '@/ui/notify';
import { navigation } from './nav';
import classes from './Palette.module.css';
import { deepEntries, entries } from './paletteEntries';
import { type Entry, search, taskNumber } from './paletteSearch';
import { usePlace } from './place';

interface Props {
  /** What was typed before it was there. */
  typed: RefObject<string>;
  ready: () => void;
  close: () => void;
}

/** Go anywhere, do anything: what the text fits, moved through by the arrows. */
export default function Palette({ typed, ready, close }: Props) {
  const b = useMe();
  const place = usePlace();
  const router = useRouter();
  const { setColorScheme } = useMantineColorScheme();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  // The dialog brings its field some moments later than itself.
  const takeOver = useCallback(
    (field: HTMLInputElement | null) => {
      if (!field) return;
      setText(typed.current);
      field.focus();
      ready();
    },
    [typed, ready],
  );

  const all = useMemo(() => {
    const go = (path: string) => router.history.push(path);
    const logOut = () => void leave().catch((err) => notify.failed('log out', err));
    return {
      go,
      shallow: entries(b, navigation(b, place), recent(), { go, setScheme: setColorScheme, logOut }),
      deep: deepEntries(b, go),
    };
  }, [b, place, router, setColorScheme]);

  const found = useMemo(() => {
    if (text.trim() === '') return all.shallow;
    const number = taskNumber(text);
    const task: Entry[] = number
      ? [{ id: 'task', group: 'Task', label: `Go to task ${number}`, run: () => all.go(`/tasks/${number}`) }]
      : [];
    const fits = search([...all.shallow, ...all.deep], text);
    const seen = new Set<string>();
    return [...task, ...fits.filter((e) => !seen.has(e.id) && seen.add(e.id))];
  }, [all, text]);
  const groups = useMemo(() => inGroups(found), [found]);
  const flat = groups.flatMap(([, g]) => g);

  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    // After the dialog gave the focus back: what runs may move it.
    setTimeout(entry.run);
  };

  const onKeyDown = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[e.key];
    if (step !== undefined) {
      e.preventDefault();
      if (Math.abs(step) === 1) setAt((at + step + flat.length) % Math.max(1, flat.length));
      else setAt(Math.min(flat.length - 1, Math.max(0, at + step)));
    } else if (e.key === 'Enter' && !e.nativeEvent.isComposing) {
      e.preventDefault();
      choose(flat[at]);
    }
  };

  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      returnFocus={false} // the frame knows where it was
      size={620}
      yOffset="10vh"
      centered={false}
      padding={0}
      transitionProps={{ duration: 80 }}
      classNames={{ body: classes.body }}
      attributes={{ content: { 'aria-label': 'Search or go to' } }}
    >
      <div className={classes.head}>
        <IconSearch size={19} stroke={1.7} aria-hidden="true" />
        <input
          className={classes.input}
          placeholder="A page, a pipeline, an action, or the number of a task"
          aria-label="Search or go to"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={flat[at] ? `${id}-${at}` : undefined}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          ref={takeOver}
          value={text}
          onChange={(e) => {
            setText(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={classes.list} id={`${id}-list`} role="listbox" aria-label="Found" ref={list} tabIndex={-1}>
        {groups.map(([group, items]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, no form's fieldset
          <div key={group} role="group" aria-label={group}>
            <div className={classes.group} aria-hidden="true">
              {group}
            </div>
            {items.map((entry) => {
              const index = flat.indexOf(entry);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the keys
                // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus
                <div
                  key={entry.id}
                  id={`${id}-${index}`}
                  data-at={index}
                  role="option"
                  aria-selected={index === at}
                  className={classes.option}
                  onMouseMove={() => setAt(index)}
                  onClick={() => choose(entry)}
                >
                  <span className={classes.label}>{entry.label}</span>
                  {entry.hint && <span className={classes.hint}>{entry.hint}</span>}
                  {entry.keys && <Hotkey keys={entry.keys} />}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {flat.length === 0 && (
        <output className={classes.none}>Nothing fits “{text}”. Tasks are found by their number.</output>
      )}
      <div className={classes.foot} aria-hidden="true">
        <span>
          <Hotkey keys="ArrowUp" /> <Hotkey keys="ArrowDown" /> to move
        </span>
        <span>
          <Hotkey keys="Enter" /> to go
        </span>
        <span>
          <Hotkey keys="Escape" /> to close
        </span>
      </div>
    </Modal>
  );
}

function inGroups(list: Entry[]): [string, Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const e of list) groups.set(e.group, [...(groups.get(e.group) ?? []), e]);
  return [...groups];
}
