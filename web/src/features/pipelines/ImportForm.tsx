import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { body, importPipeline } from '@/api';
import { ErrorNote } from '@/ui/ErrorNote';

/** The largest document that the server takes, in bytes. */
const maxBytes = 2 * 1024 * 1024;

/** Makes a draft of a YAML or JSON document: what an export gives, or an apply document with one pipeline. */
export function ImportForm({ projectId, done }: { projectId: number; done: () => void }) {
  const [text, setText] = useState('');
  const [tooLarge, setTooLarge] = useState('');
  const navigate = useNavigate();
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => body(importPipeline({ path: { project_id: projectId }, body: { document: text } })),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ['listProjects'] });
      void client.invalidateQueries({ queryKey: ['listPipelines'] });
      done();
      void navigate({ to: `/pipelines/${made.id}/build` });
    },
  });
  const read = async (file: File | null) => {
    if (!file) return;
    if (file.size > maxBytes) {
      setTooLarge(`${file.name} is larger than 2 MB: that is no pipeline document.`);
      return;
    }
    setTooLarge('');
    send.reset();
    setText(await file.text());
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (text.trim()) send.mutate();
      }}
    >
      <Stack>
        <Group>
          <FileButton onChange={read} accept=".yaml,.yml,.json,application/yaml,application/json,text/plain">
            {(props) => (
              <Button variant="default" leftSection={<IconFileUpload size={16} />} {...props}>
                Choose a file
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed">
            or paste YAML or JSON below
          </Text>
        </Group>
        {tooLarge && (
          <Text size="sm" c="red" role="alert">
            {tooLarge}
          </Text>
        )}
        <Textarea
          label="Document"
          description="An exported definition, or what `taskloom apply` takes with exactly one pipeline."
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          minRows={10}
          maxRows={20}
          autosize
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
        {send.isError && <ErrorNote error={send.error} doing="import the document" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={done}>
            Cancel
          </Button>
          <Button type="submit" loading={send.isPending} disabled={!text.trim()}>
            Import as a draft
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
