import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Pending } from './ConfirmDialog';

export default function ConfirmQuestion({ title, body, confirmLabel, cancelLabel, typed, danger, answer }: Pending) {
  const [word, setWord] = useState('');
  const ready = !typed || word.trim() === typed;
  return (
    <Modal opened onClose={() => answer(false)} title={title}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (ready) answer(true);
        }}
      >
        <Stack gap="md">
          {body && (
            <Text component="div" size="sm">
              {body}
            </Text>
          )}
          {typed && (
            <TextInput
              label={
                <>
                  Type <Code>{typed}</Code> to go on
                </>
              }
              value={word}
              onChange={(e) => setWord(e.currentTarget.value)}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              data-autofocus
            />
          )}
          <Group justify="flex-end" gap="xs">
            <Button
              variant="default"
              onClick={() => answer(false)}
              data-autofocus={!typed && (danger || !confirmLabel) ? true : undefined}
            >
              {cancelLabel ?? (confirmLabel ? 'Cancel' : 'Close')}
            </Button>
            {confirmLabel && (
              <Button
                type="submit"
                color={danger ? 'red' : undefined}
                disabled={!ready}
                data-autofocus={!typed && !danger ? true : undefined}
              >
                {confirmLabel}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
