import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asAPIError, body, changePassword } from '@/api';
import { useMe } from '@/features/session/me';
import { passwordMin } from '@/features/session/password';
import { ErrorNote } from '@/ui/ErrorNote';
import { notify } from '@/ui/notify';
import { Section } from '@/ui/Section';
import classes from './account.module.css';

const empty = { current: '', password: '' };
const show = { 'aria-label': 'Show the password' };

export function Password() {
  const { me } = useMe();
  const client = useQueryClient();
  const [words, setWords] = useState(empty);
  const change = useMutation({
    mutationFn: () => body(changePassword({ body: words })),
    onSuccess: () => {
      setWords(empty);
      notify.done('Your password is changed. Every other session is logged out.');
      void client.invalidateQueries({ queryKey: ['listSessions'] });
    },
  });
  const problems = change.error ? asAPIError(change.error).problems : [];
  const at = (path: string) => problems.find((p) => p.path?.split(/[./]/).pop() === path)?.message;
  const placed = at('current') ?? at('password');

  return (
    <Section title="Password" lead="Changing it logs every other browser out.">
      <form
        className={`${classes.card} ${classes.form}`}
        onSubmit={(e) => {
          e.preventDefault();
          change.mutate();
        }}
      >
        {/* So that a password manager knows whose password it saves. */}
        <input type="hidden" name="username" autoComplete="username" value={me.email} />
        <Stack gap="sm" maw={360}>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            visibilityToggleButtonProps={show}
            value={words.current}
            error={at('current')}
            onChange={(e) => setWords({ ...words, current: e.currentTarget.value })}
          />
          <PasswordInput
            label="New password"
            description={`At least ${passwordMin} characters. A few words in a row do well.`}
            autoComplete="new-password"
            required
            withAsterisk={false}
            minLength={passwordMin}
            visibilityToggleButtonProps={show}
            value={words.password}
            error={at('password')}
            onChange={(e) => setWords({ ...words, password: e.currentTarget.value })}
          />
          {change.error && !placed && <ErrorNote error={change.error} doing="change the password" />}
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
