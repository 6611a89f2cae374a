import { useMutation } from '@tanstack/react-query';
import { body, forgetAnswers, login, logout, type User } from '@/api';
import { queryClient } from '@/app/query';
import { session } from './session';

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

/** Mantine's own place for the colour scheme: no secret, hence kept when the server clears the browser's storage. */
const schemeKey = 'mantine-color-scheme-value';

export async function leave() {
  const scheme = localStorage.getItem(schemeKey);
  await logout();
  if (scheme) localStorage.setItem(schemeKey, scheme);
  session.left();
}
