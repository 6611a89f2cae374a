import { useEffect } from 'react';
import { useSetting } from '@/features/account/settings';
import { prefs } from '@/lib/prefs';

/** Brings the settings of the person to where code outside of components looks. */
export function useFramePrefs() {
  const [single] = useSetting<boolean>('hotkeys.single', true);
  const [zone] = useSetting<'local' | 'utc'>('time.zone', 'local');
  const [density] = useSetting<'comfortable' | 'compact'>('density', 'comfortable');
  useEffect(() => {
    prefs.set({ singleKeys: single, zone: zone === 'utc' ? 'utc' : 'local', density });
    document.documentElement.dataset.density = density;
  }, [single, zone, density]);
}
