import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { body, duplicatePipeline, type Pipeline } from '@/api';
import { useMe } from '@/features/session/me';
import { ErrorNote } from '@/ui/ErrorNote';

interface Props {
  pipeline: Pick<Pipeline, 'id' | 'name' | 'project_id'>;
  done: () => void;
}

/** Copies the draft of a pipeline into a new one, here or in another project of the same organization. */
export function DuplicateForm({ pipeline, done }: Props) {
  const [name, setName] = useState(`${pipeline.name} (copy)`);
  const [project, setProject] = useState(String(pipeline.project_id));
  const { projects, project: projectOf, isAdminOf } = useMe();
  const navigate = useNavigate();
  const client = useQueryClient();
  const copy = useMutation({
    mutationFn: () =>
      body(
        duplicatePipeline({
          path: { pipeline_id: pipeline.id },
          body: { name: name.trim(), project_id: Number(project) },
        }),
      ),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ['listProjects'] });
      void client.invalidateQueries({ queryKey: ['listPipelines'] });
      done();
      void navigate({ to: `/pipelines/${made.id}/build` });
    },
  });
  const org = projectOf(pipeline.project_id)?.org_id;
  const choices = projects
    .filter((p) => p.org_id === org && isAdminOf(p.id))
    .map((p) => ({ value: String(p.id), label: p.name }));
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (name.trim()) copy.mutate();
      }}
    >
      <Stack>
        <Text size="sm">The copy is a draft without tasks.</Text>
        <TextInput
          label="Name"
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          maxLength={200}
          required
          data-autofocus
        />
        {choices.length > 1 && (
          <Select
            label="Project"
            data={choices}
            value={project}
            onChange={(v) => v && setProject(v)}
            allowDeselect={false}
          />
        )}
        {copy.isError && <ErrorNote error={copy.error} doing="duplicate the pipeline" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={done}>
            Cancel
          </Button>
          <Button type="submit" loading={copy.isPending} disabled={!name.trim()}>
            Duplicate
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
