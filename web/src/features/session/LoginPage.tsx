import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Door } from './Door';
import { LoginForm } from './LoginForm';
import { meQuery } from './me';
import { wasInside } from './session';
import { safeTarget } from './target';

export default function LoginPage() {
  const { to } = useSearch({ from: '/login' });
  const router = useRouter();
  const target = safeTarget(to);
  // Somebody who is logged in has nothing to do here.
  const me = useQuery({ ...meQuery, enabled: wasInside(), refetchInterval: false });
  const inside = me.isSuccess && !me.isFetching;
  useEffect(() => {
    if (inside) router.history.replace(target);
  }, [inside, router, target]);

  return (
    <Door title="Log in" lead={target === '/' ? undefined : 'You come back to where you were.'}>
      <LoginForm done={() => router.history.replace(target)} />
    </Door>
  );
}
