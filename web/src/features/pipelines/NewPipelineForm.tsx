import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { body, createPipeline } from '@/api';
import { templates } from '@/pipeline/templates';
import { ErrorNote } from '@/ui/ErrorNote';

/** Makes a draft from a template and opens the builder on it. */
export function NewPipelineForm({ projectId, done }: { projectId: number; done: () => void }) {
  const [name, setName] = useState('');
  const [choice, setChoice] = useState(templates[0]?.id ?? '');
  const navigate = useNavigate();
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: () => {
      const template = templates.find((t) => t.id === choice) ?? templates[0];
      if (!template) throw new Error('There are no templates in this build.');
      const definition = template.make(name.trim());
      return body(createPipeline({ path: { project_id: projectId }, body: { definition } }));
    },
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ['listProjects'] });
      void client.invalidateQueries({ queryKey: ['listPipelines'] });
      done();
      void navigate({ to: `/pipelines/${made.id}/build` });
    },
  });
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (name.trim()) make.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          placeholder="Grade answers"
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          maxLength={200}
          required
          data-autofocus
        />
        <Radio.Group label="Start with" value={choice} onChange={setChoice}>
          <Stack gap="xs" mt="xs">
            {templates.map((t) => (
              <Radio key={t.id} value={t.id} label={<Text size="sm">{t.title}</Text>} description={t.about} />
            ))}
          </Stack>
        </Radio.Group>
        {make.isError && <ErrorNote error={make.error} doing="create the pipeline" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={done}>
            Cancel
          </Button>
          <Button type="submit" loading={make.isPending} disabled={!name.trim()}>
            Create and build
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
