import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { serverNow } from '@/api';
import { useUndo } from '../useUndo';

/** Takes a submission back while that is still possible. */
export function UndoButton({ claimId, until }: { claimId: string; until: string | null }) {
  const undo = useUndo();
  const [left, setLeft] = useState(() => (until ? Date.parse(until) - serverNow() : 0));
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!until) return;
    const timer = setInterval(() => setLeft(Date.parse(until) - serverNow()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  if (!until || left <= 0) return null;
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={busy}
      onClick={() => {
        setBusy(true);
        void undo(claimId, until).finally(() => setBusy(false));
      }}
    >
      Undo ({Math.ceil(left / 1000)} s)
    </Button>
  );
}
