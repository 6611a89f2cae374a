import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { acceptInvite, asAPIError, body, type Invitation } from '@/api';
import { ErrorNote } from '@/ui/ErrorNote';
import { enter } from './actions';
import { passwordMin } from './password';

/** A new account, or the proof that the account of this address is the person's. */
export function AcceptForm({ token, invite }: { token: string; invite: Invitation }) {
  const router = useRouter();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const fresh = !invite.account_exists;
  const accept = useMutation({
    mutationFn: () =>
      body(acceptInvite({ body: fresh ? { token, name: name.trim(), password } : { token, password } })),
    onSuccess: (user) => {
      enter(user);
      router.history.replace('/');
    },
  });
  const problems = accept.error ? asAPIError(accept.error).problems : [];
  const at = (path: string) => problems.find((p) => p.path?.split(/[./]/).pop() === path)?.message;
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        accept.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput label="Email" value={invite.email} readOnly autoComplete="username" name="email" variant="filled" />
        {fresh && (
          <TextInput
            label="Your name"
            description="As others see it."
            autoComplete="name"
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            error={at('name')}
            onChange={(e) => setName(e.currentTarget.value)}
          />
        )}
        <PasswordInput
          label={fresh ? 'Choose a password' : 'Password of your account'}
          description={
            fresh ? `At least ${passwordMin} characters. A few words in a row do well.` : 'You have an account already.'
          }
          autoComplete={fresh ? 'new-password' : 'current-password'}
          required
          withAsterisk={false}
          minLength={fresh ? passwordMin : undefined}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          value={password}
          error={at('password')}
          onChange={(e) => setPassword(e.currentTarget.value)}
        />
        {accept.error && !at('name') && !at('password') && <ErrorNote error={accept.error} doing="accept the invite" />}
        <Button type="submit" loading={accept.isPending} fullWidth mt={4}>
          {fresh ? 'Create my account' : 'Accept'}
        </Button>
      </Stack>
    </form>
  );
}
