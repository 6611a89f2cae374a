import { Center, Container } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { asAPIError } from '@/api';
import { belonging } from '@/features/session/belonging';
import { MeProvider, meQuery, projectsQuery } from '@/features/session/me';
import { useSession, wasInside } from '@/features/session/session';
import { loginPath } from '@/features/session/target';
import { chunk } from '@/lib/chunk';
import { recentOf } from '@/lib/recent';
import { loadQuestion } from '@/ui/ConfirmDialog';
import { ErrorNote } from '@/ui/ErrorNote';
import { Logo } from '@/ui/Logo';
import { Frame } from './frame/Frame';

const loadLogin = chunk(() => import('@/features/session/LostSession'));
const LostSession = lazy(loadLogin);
/** A session that is lost later, or a question, must not have to wait for code, which a new release may have replaced. */
const loadRestAfterMs = 5000;

/** Everything behind the login: it knows who the person is before it shows anything. */
export default function Shell() {
  const router = useRouter();
  const me = useQuery(meQuery);
  // At once, unless that could only be refused.
  const projects = useQuery({ ...projectsQuery, enabled: me.isSuccess || wasInside() });
  const { lost } = useSession();
  const b = useMemo(
    () => (me.data && projects.data ? belonging(me.data, projects.data.projects) : null),
    [me.data, projects.data],
  );
  // What is there stays, whatever a later request says.
  const error = b ? null : (me.error ?? projects.error);
  const stranger = error !== null && asAPIError(error).status === 401;
  useEffect(() => {
    if (stranger) router.history.replace(loginPath(window.location));
  }, [stranger, router]);

  useEffect(() => {
    const timer = setTimeout(() => {
      for (const load of [loadLogin, loadQuestion]) void load().catch(() => {});
    }, loadRestAfterMs);
    return () => clearTimeout(timer);
  }, []);

  if (b) {
    recentOf(b.me.id);
    return (
      <MeProvider value={b}>
        <Frame />
        <Suspense>{lost && <LostSession />}</Suspense>
      </MeProvider>
    );
  }
  if (error && !stranger) {
    const again = () => {
      void me.refetch();
      void projects.refetch();
    };
    return (
      <Container component="main" size="xs" py={80}>
        <h1 className="sr-only">Taskloom</h1>
        <ErrorNote error={error} retry={again} />
      </Container>
    );
  }
  return (
    <Center component="main" h="100dvh" aria-busy="true" opacity={0.5}>
      <Logo size={44} />
    </Center>
  );
}
