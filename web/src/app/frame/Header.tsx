import { ActionIcon, Burger, UnstyledButton } from '@mantine/core';
import IconLayoutSidebar from '@tabler/icons-react/dist/esm/icons/IconLayoutSidebar.mjs';
import IconSearch from '@tabler/icons-react/dist/esm/icons/IconSearch.mjs';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { chunk } from '@/lib/chunk';
import { ariaKeys } from '@/lib/hotkeys';
import { Fallback } from '@/ui/Fallback';
import { Hotkey } from '@/ui/Hotkey';
import { Logo } from '@/ui/Logo';
import { AccountFace, ProjectName } from './faces';
import classes from './Header.module.css';

// Menus bring a third of the frame's code: it follows the first page.
const AccountMenu = lazy(chunk(() => import('./AccountMenu')));
const ProjectSwitcher = lazy(chunk(() => import('./ProjectSwitcher')));

interface Props {
  /** The navigation over the page, on narrow screens. */
  drawer: boolean;
  toggleDrawer: () => void;
  sidebar: boolean;
  toggleSidebar: () => void;
  search: () => void;
  showKeys: () => void;
}

export function Header({ drawer, toggleDrawer, sidebar, toggleSidebar, search, showKeys }: Props) {
  return (
    <div className={classes.header}>
      <Burger
        opened={drawer}
        onClick={toggleDrawer}
        hiddenFrom="md"
        size="sm"
        aria-label={drawer ? 'Close the navigation' : 'Open the navigation'}
        aria-expanded={drawer}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size={34}
        visibleFrom="md"
        onClick={toggleSidebar}
        aria-label={sidebar ? 'Hide the navigation' : 'Show the navigation'}
        title={sidebar ? 'Hide the navigation ( [ )' : 'Show the navigation ( [ )'}
        aria-expanded={sidebar}
        aria-keyshortcuts="["
      >
        <IconLayoutSidebar size={18} stroke={1.6} />
      </ActionIcon>
      <Link to="/" className={classes.brand} aria-label="Taskloom, home">
        <Logo size={26} />
        <span className={classes.name}>Taskloom</span>
      </Link>
      <Fallback show={<ProjectName />}>
        <Suspense fallback={<ProjectName />}>
          <ProjectSwitcher />
        </Suspense>
      </Fallback>
      <div className={classes.space} />
      <UnstyledButton
        className={classes.search}
        onClick={search}
        aria-label="Search or go to"
        aria-keyshortcuts={ariaKeys('mod+k')}
      >
        <IconSearch size={17} stroke={1.7} aria-hidden="true" />
        <span>Search or go to…</span>
        <Hotkey keys="mod+k" />
      </UnstyledButton>
      <Fallback show={<AccountFace />}>
        <Suspense fallback={<AccountFace />}>
          <AccountMenu showKeys={showKeys} />
        </Suspense>
      </Fallback>
    </div>
  );
}
