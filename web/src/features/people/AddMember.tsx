import { Button, Group, Select } from '@mantine/core';
import { useState } from 'react';
import type { Person } from '@/api';
import { notify } from '@/ui/notify';
import { useSetProjectRole } from './queries';
import { type ProjectRole, projectRoles, roleLabel } from './roles';

/** Brings somebody of the organization into the project. Who is not in it yet is invited. */
export function AddMember({ projectId, candidates }: { projectId: number; candidates: Person[] }) {
  const [person, setPerson] = useState<string | null>(null);
  const [role, setRole] = useState<ProjectRole>('contributor');
  const add = useSetProjectRole(projectId);
  if (candidates.length === 0) return null;
  const chosen = candidates.find((c) => String(c.id) === person);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (!chosen) return;
        add.mutate(
          { userId: chosen.id, role },
          {
            onSuccess: () => {
              notify.done(`${chosen.name} is ${roleLabel(role)} here now.`);
              setPerson(null);
            },
            onError: (err) => notify.failed(`add ${chosen.name}`, err),
          },
        );
      }}
    >
      <Group gap="xs" align="flex-end" mb="md">
        <Select
          label="Add somebody of the organization"
          placeholder="Name or address"
          searchable
          limit={50}
          nothingFoundMessage="Nobody of that name. Invite them instead."
          data={candidates.map((c) => ({ value: String(c.id), label: `${c.name} (${c.email})` }))}
          value={person}
          onChange={setPerson}
          flex="1 1 240px"
          maw={380}
        />
        <Select
          aria-label="Role"
          data={projectRoles.map(({ value, label }) => ({ value, label }))}
          value={role}
          allowDeselect={false}
          onChange={(r) => r && setRole(r as ProjectRole)}
          w={150}
        />
        <Button type="submit" variant="default" disabled={!chosen} loading={add.isPending}>
          Add
        </Button>
      </Group>
    </form>
  );
}
