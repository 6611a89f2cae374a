import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { body, createProject, type Org } from '@/api';
import { ErrorNote } from '@/ui/ErrorNote';

/** Makes a project in one of the organizations that the caller may make some in. */
export function NewProjectForm({ orgs, done }: { orgs: Org[]; done: () => void }) {
  const [name, setName] = useState('');
  const [org, setOrg] = useState(String(orgs[0]?.id ?? ''));
  const navigate = useNavigate();
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: () => body(createProject({ path: { org_id: Number(org) }, body: { name: name.trim() } })),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['listProjects'] });
      done();
      void navigate({ to: `/projects/${made.id}` });
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
        <Text size="sm">A project has its own people and pipelines.</Text>
        <TextInput
          label="Name"
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          maxLength={200}
          required
          data-autofocus
        />
        {orgs.length > 1 && (
          <Select
            label="Organization"
            data={orgs.map((o) => ({ value: String(o.id), label: o.name }))}
            value={org}
            onChange={(v) => v && setOrg(v)}
            allowDeselect={false}
          />
        )}
        {make.isError && <ErrorNote error={make.error} doing="create the project" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={done}>
            Cancel
          </Button>
          <Button type="submit" loading={make.isPending} disabled={!name.trim()}>
            Create project
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
