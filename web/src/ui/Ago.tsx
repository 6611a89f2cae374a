import { usePrefs } from '@/lib/prefs';
import { useNow } from '@/lib/ticking';
import { absolute, ago } from '@/lib/time';

/** A moment as people say it; the exact one on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  const { zone } = usePrefs();
  const now = useNow();
  if (!at) return <span>–</span>;
  // The browser's own tooltip: lists have hundreds of these.
  return (
    <time dateTime={at} title={absolute(at, zone)} style={{ whiteSpace: 'nowrap' }}>
      {ago(at, Math.max(now, Date.parse(at) > now && Date.parse(at) - now < 30_000 ? Date.parse(at) : now))}
    </time>
  );
}
