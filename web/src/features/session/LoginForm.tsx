import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { asAPIError, type User } from '@/api';
import { ErrorNote } from '@/ui/ErrorNote';
import { useLogin } from './actions';

interface Props {
  /** Filled in already, for somebody whose session was lost. */
  email?: string;
  done: (user: User) => void;
}

/** Email and password. Refusals keep what was typed. */
export function LoginForm({ email = '', done }: Props) {
  const [who, setWho] = useState({ email, password: '' });
  const [wait, setWait] = useState(0);
  const mail = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => {
    (email === '' ? mail : password).current?.focus();
  }, [email]);
  const login = useLogin();
  const error = login.error ? asAPIError(login.error) : null;

  useEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);

  const submit = (e: FormEvent) => {
    e.preventDefault();
    login.mutate(who, {
      onSuccess: done,
      onError: (err) => {
        const { status, retryAfter } = asAPIError(err);
        setWait(status === 429 ? retryAfter : 0); // else nothing says why one waits
        password.current?.select();
      },
    });
  };

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          ref={mail}
          label="Email"
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={who.email}
          onChange={(e) => setWho({ ...who, email: e.currentTarget.value })}
          data-autofocus={email === '' || undefined}
        />
        <PasswordInput
          ref={password}
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={who.password}
          onChange={(e) => setWho({ ...who, password: e.currentTarget.value })}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          data-autofocus={email !== '' || undefined}
        />
        {error?.status === 401 && (
          <Alert color="red" variant="light" role="alert" py="xs">
            Email or password is wrong.
          </Alert>
        )}
        {error?.status === 429 && (
          <Alert color="yellow" variant="light" role="alert" py="xs">
            Too many attempts. {wait > 0 ? `Try again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.` : 'Try again.'}
          </Alert>
        )}
        {error && error.status !== 401 && error.status !== 429 && <ErrorNote error={error} doing="log in" />}
        <Button type="submit" loading={login.isPending} disabled={wait > 0} fullWidth mt={4}>
          Log in
        </Button>
      </Stack>
    </form>
  );
}
