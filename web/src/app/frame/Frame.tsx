import { AppShell } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { Outlet, useLocation, useRouterState } from '@tanstack/react-router';
import { lazy, type RefObject, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { chunk } from '@/lib/chunk';
import { Fallback } from '@/ui/Fallback';
import { notify } from '@/ui/notify';
import classes from './Frame.module.css';
import { Header } from './Header';
import { Nav } from './Nav';
import { Notices } from './Notices';
import { useFrameHotkeys } from './useFrameHotkeys';
import { useFramePrefs } from './useFramePrefs';

const loadPalette = chunk(() => import('./Palette'));
const Palette = lazy(loadPalette);
const HotkeySheet = lazy(chunk(() => import('./HotkeySheet')));

type Over = 'palette' | 'keys' | null;

/** Header, navigation and the page. */
export function Frame() {
  const [drawer, setDrawer] = useState(false);
  const [sidebar, setSidebar] = useLocalStorage({
    key: 'taskloom.sidebar',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const [over, setOver] = useState<Over>(null);
  const { pathname } = useLocation();
  const main = useFocusOnNavigation(pathname);
  const typed = useRef('');
  const before = useRef<Element | null>(null);
  const [ready, setReady] = useState(false);
  const isReady = useCallback(() => setReady(true), []);
  useFramePrefs();
  const toggleSidebar = () => setSidebar(!sidebar);
  const search = () => {
    typed.current = '';
    before.current = document.activeElement;
    setReady(false);
    setOver('palette');
  };
  const closePalette = () => {
    setOver(null);
    setTimeout(() => before.current instanceof HTMLElement && before.current.focus({ preventScroll: true }));
  };
  useFrameHotkeys({
    search,
    showKeys: () => setOver('keys'),
    toggleSidebar,
  });
  useEffect(() => {
    // So that Ctrl+K is there at once, but not in the way of the first page.
    const timer = setTimeout(() => void loadPalette().catch(() => {}), 3000);
    return () => clearTimeout(timer);
  }, []);

  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 236, breakpoint: 'md', collapsed: { mobile: !drawer, desktop: !sidebar } }}
      padding={{ base: 'md', md: 'lg' }}
      transitionDuration={120}
    >
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <AppShell.Header className={classes.bar} zIndex={102}>
        <Header
          drawer={drawer}
          toggleDrawer={() => setDrawer(!drawer)}
          sidebar={sidebar}
          toggleSidebar={toggleSidebar}
          search={search}
          showKeys={() => setOver('keys')}
        />
        <Progress />
      </AppShell.Header>
      <AppShell.Navbar className={classes.bar} withBorder>
        <Nav go={() => setDrawer(false)} />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <Notices />
        <Outlet />
      </AppShell.Main>
      {over === 'palette' && !ready && <TypeAhead into={typed} />}
      {over && (
        <Fallback key={over} show={<Unloaded close={over === 'palette' ? closePalette : () => setOver(null)} />}>
          <Suspense>
            {over === 'palette' && <Palette typed={typed} ready={isReady} close={closePalette} />}
            {over === 'keys' && <HotkeySheet close={() => setOver(null)} />}
          </Suspense>
        </Fallback>
      )}
    </AppShell>
  );
}

/** Closes what cannot be fetched, and says so: the page under it goes on. */
function Unloaded({ close }: { close: () => void }) {
  useEffect(() => {
    notify.failed('open this', new Error('Its code cannot be fetched. Reload the page when the server is there.'));
    close();
  }, [close]);
  return null;
}

/** Takes what people type until the palette is there: Ctrl+K and on, without looking. */
function TypeAhead({ into }: { into: RefObject<string> }) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  return (
    <input
      ref={input}
      className="sr-only"
      aria-label="Search or go to"
      onChange={(e) => {
        into.current = e.currentTarget.value;
      }}
    />
  );
}

/** A thin line while the next page loads. */
function Progress() {
  const loading = useRouterState({ select: (s) => s.isLoading });
  return loading ? <div className={classes.progress} aria-hidden="true" /> : null;
}

/** After a navigation the focus is in the new page, unless that put it somewhere itself. */
function useFocusOnNavigation(pathname: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current === pathname) return;
    last.current = pathname;
    const timer = setTimeout(() => {
      const here = document.activeElement;
      if (!here || here === document.body || here.closest('nav')) main.current?.focus({ preventScroll: true });
    }, 50);
    return () => clearTimeout(timer);
  }, [pathname]);
  return main;
}
