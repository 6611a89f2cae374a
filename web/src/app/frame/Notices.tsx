import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { body, getInfo, useReachable } from '@/api';
import { queryClient } from '@/app/query';
import classes from './Notices.module.css';

/** Not at once: a single lost request is nobody's concern. */
const patienceMs = 1500;
const versionEveryMs = 5 * 60_000;

/** What concerns every page: the connection, a newer app. */
export function Notices() {
  return (
    <div role="status" className={classes.notices}>
      <Offline />
      <NewVersion />
    </div>
  );
}

function Offline() {
  const reachable = useReachable();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (reachable) {
      setShown((was) => {
        if (was) void queryClient.invalidateQueries();
        return false;
      });
      return;
    }
    const timer = setTimeout(() => setShown(true), patienceMs);
    return () => clearTimeout(timer);
  }, [reachable]);
  if (!shown) return null;
  return (
    <div className={classes.notice} data-kind="offline">
      No connection to the server. What you type is kept here and sent when it is back.
    </div>
  );
}

function NewVersion() {
  const { data } = useQuery({
    queryKey: ['getInfo'],
    queryFn: () => body(getInfo()),
    staleTime: versionEveryMs,
    refetchInterval: versionEveryMs,
  });
  const first = useRef<string>(undefined);
  if (data) first.current ??= data.version;
  if (!data || data.version === first.current) return null;
  return (
    <div className={classes.notice}>
      The server has a newer version of this app.
      <Button size="compact-xs" variant="default" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  );
}
