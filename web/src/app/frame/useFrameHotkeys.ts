import { useMantineColorScheme } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type Binding, useHotkeys } from '@/lib/hotkeys';

interface Means {
  search: () => void;
  showKeys: () => void;
  toggleSidebar: () => void;
}

/** What works on every page. */
export function useFrameHotkeys({ search, showKeys, toggleSidebar }: Means) {
  const router = useRouter();
  const { toggleColorScheme } = useMantineColorScheme();
  const group = 'Everywhere';
  const to = (keys: string, label: string, path: string): Binding => ({
    keys,
    label,
    group,
    run: () => router.history.push(path),
  });
  useHotkeys([
    { keys: 'mod+k', label: 'Search or go to', group, allowInInput: true, run: search },
    { keys: '?', label: 'This sheet', group, run: showKeys },
    { keys: '[', label: 'Show or hide the navigation', group, run: toggleSidebar },
    to('g h', 'Go home', '/'),
    to('g w', 'Go to work', '/work'),
    to('g s', 'Go to my submissions', '/history'),
    to('g p', 'Go to projects', '/projects'),
    to('g a', 'Go to the account', '/account'),
    { keys: 'mod+shift+l', label: 'Light or dark', group, allowInInput: true, run: toggleColorScheme },
  ]);
}
