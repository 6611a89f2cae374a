import { TextInput } from '@mantine/core';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import { useRef } from 'react';
import { useHotkeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import classes from './people.module.css';

interface Props {
  filter: string;
  setFilter: (text: string) => void;
  fitting: number;
  all: number;
}

export function MemberTools({ filter, setFilter, fitting, all }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useHotkeys([{ keys: '/', label: 'Filter', group: 'Members', run: () => input.current?.focus() }]);
  const people = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'person' : 'people'}`;
  return (
    <div className={classes.tools}>
      <TextInput
        ref={input}
        size="sm"
        aria-label="Filter by name, address or project"
        aria-keyshortcuts="/"
        placeholder="Filter by name, address or project"
        leftSection={<IconSearch size={16} aria-hidden="true" />}
        rightSection={filter === '' ? <Hotkey keys="/" /> : undefined}
        value={filter}
        onChange={(e) => setFilter(e.currentTarget.value)}
        onKeyDown={(e) => e.key === 'Escape' && setFilter('')}
      />
      <output className={classes.count}>
        {fitting === all ? people(all) : `${fitting.toLocaleString('en')} of ${people(all)}`}
      </output>
    </div>
  );
}
