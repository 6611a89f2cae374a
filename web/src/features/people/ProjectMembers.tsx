import { Button, Text } from '@mantine/core';
import type { ProjectMember } from '@/api';
import { useMe } from '@/features/session/me';
import { confirm } from '@/ui/ConfirmDialog';
import { Actions, Cell, List, Row } from '@/ui/List';
import { notify } from '@/ui/notify';
import quiet from '@/ui/quiet.module.css';
import { MemberTools } from './MemberTools';
import { PersonCell } from './PersonCell';
import { useRemoveProjectMember, useSetProjectRole } from './queries';
import { RoleSelect } from './RoleSelect';
import { type ProjectRole, projectRoles, roleLabel } from './roles';
import { useShown } from './useShown';

const columns = ['Person', 'Role', ''];

export function ProjectMembers({ projectId, members }: { projectId: number; members: ProjectMember[] }) {
  const b = useMe();
  const setRole = useSetProjectRole(projectId);
  const remove = useRemoveProjectMember(projectId);
  const list = useShown(members, (m) => `${m.person.name} ${m.person.email}`);

  const change = async (m: ProjectMember, role: ProjectRole) => {
    if (m.person.id === b.me.id && role !== 'project_admin') {
      const yes = await confirm({
        title: 'Give up your own admin role?',
        body: `You can no longer build pipelines or manage members here. Another admin can give it back.`,
        confirmLabel: 'Give it up',
        danger: true,
      });
      if (!yes) return;
    }
    setRole.mutate(
      { userId: m.person.id, role },
      {
        onSuccess: () => notify.done(`${m.person.name} is ${roleLabel(role)} here now.`),
        onError: (err) => notify.failed('change the role', err),
      },
    );
  };

  const ask = async (m: ProjectMember) => {
    const yes = await confirm({
      title: `Remove ${m.person.name} from the project?`,
      body: 'Tasks that they hold here go back to the queue; what they submitted stays. They remain a member of the organization.',
      confirmLabel: 'Remove',
      danger: true,
    });
    if (!yes) return;
    remove.mutate(m.person.id, {
      onSuccess: () => notify.done(`${m.person.name} is removed from the project.`),
      onError: (err) => notify.failed(`remove ${m.person.name}`, err),
    });
  };

  return (
    <>
      <MemberTools filter={list.filter} setFilter={list.setFilter} fitting={list.fitting.length} all={members.length} />
      <List label="Members" columns={columns}>
        {list.shown.map((m) => (
          <Row key={m.person.id}>
            <Cell>
              <PersonCell person={m.person} me={m.person.id === b.me.id} />
            </Cell>
            <Cell label="Role">
              {m.inherited ? (
                <Text span size="sm" c="dimmed">
                  Project admin, as org admin
                </Text>
              ) : (
                <RoleSelect
                  label={`Role of ${m.person.name}`}
                  roles={projectRoles}
                  value={m.role}
                  disabled={setRole.isPending}
                  onChange={(role) => void change(m, role)}
                />
              )}
            </Cell>
            <Actions corner>
              {!m.inherited && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="gray"
                  className={quiet.button}
                  onClick={() => void ask(m)}
                  aria-label={`Remove ${m.person.name}`}
                >
                  Remove
                </Button>
              )}
            </Actions>
          </Row>
        ))}
      </List>
      {list.more && (
        <Button variant="default" mt="sm" onClick={list.more}>
          Show more
        </Button>
      )}
    </>
  );
}
