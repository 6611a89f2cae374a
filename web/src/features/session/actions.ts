import { useMutation } from '@tanstack/react-query';
import { body, forgetAnswers, login, logout, type User } from '@/api';
import { queryClient } from '@/app/query';
import { confirm } from '@/ui/ConfirmDialog';
import { eraseKept } from './kept';
import { session } from './session';
import { sendUnsent, unsent } from './unsent';

/** The session's cookie comes with the answer. */
export function useLogin() {
  return useMutation({
    mutationFn: (who: { email: string; password: string }) => body(login({ body: who })),
    onSuccess: enter,
  });
}

/** After a login or an accepted invite. Answers to somebody else are forgotten. */
export function enter(user: User) {
  if (session.get().user?.id !== user.id) {
    forgetAnswers();
    queryClient.clear();
  }
  session.entered(user);
}

/** Mantine's own place for the colour scheme: no secret, hence kept when logging out clears the browser's storage. */
const schemeKey = 'mantine-color-scheme-value';

/** Logs out; not before the person knows what that would erase. */
export async function leave() {
  await sendUnsent();
  const lost = unsent();
  const yes =
    !lost ||
    (await confirm({
      title: 'Log out and erase unsent work?',
      body: `Only this browser has ${lost}, of everybody who works in it. Logging out erases that. To keep it, stay, and hand it in or save it first.`,
      confirmLabel: 'Log out and erase it',
      cancelLabel: 'Stay',
      danger: true,
    }));
  if (!yes) return;
  const scheme = localStorage.getItem(schemeKey);
  await logout();
  eraseKept();
  if (scheme) localStorage.setItem(schemeKey, scheme);
  session.left();
}
