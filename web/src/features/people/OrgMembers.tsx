import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { OrgMember } from '@/api';
import { useMe } from '@/features/session/me';
import { Ago } from '@/ui/Ago';
import { confirm } from '@/ui/ConfirmDialog';
import { Actions, Cell, List, Row } from '@/ui/List';
import { notify } from '@/ui/notify';
import quiet from '@/ui/quiet.module.css';
import { MemberTools } from './MemberTools';
import { PersonCell } from './PersonCell';
import classes from './people.module.css';
import { useRemoveOrgMember, useSetOrgRole } from './queries';
import { RoleSelect } from './RoleSelect';
import { type OrgRole, orgRoles, roleLabel } from './roles';
import { useShown } from './useShown';

const columns = ['Person', 'Role', 'Projects', 'Joined', ''];

export function OrgMembers({ orgId, members }: { orgId: number; members: OrgMember[] }) {
  const b = useMe();
  const setRole = useSetOrgRole(orgId);
  const remove = useRemoveOrgMember(orgId);
  const list = useShown(
    members,
    (m) => `${m.person.name} ${m.person.email} ${m.projects.map((p) => p.name).join(' ')}`,
  );
  const admins = members.filter((m) => m.role === 'org_admin').length;

  const change = async (m: OrgMember, role: OrgRole) => {
    const self = m.person.id === b.me.id;
    if (self && role !== 'org_admin') {
      const yes = await confirm({
        title: 'Give up your own admin role?',
        body: 'You lose this page, the API keys and every project without a role of your own. Another org admin can give it back.',
        confirmLabel: 'Give it up',
        danger: true,
      });
      if (!yes) return;
    }
    setRole.mutate(
      { userId: m.person.id, role },
      {
        onSuccess: () => notify.done(`${m.person.name} is ${roleLabel(role)} now.`),
        onError: (err) => notify.failed('change the role', err),
      },
    );
  };

  const ask = async (m: OrgMember) => {
    const yes = await confirm({
      title: `Remove ${m.person.name}?`,
      body: (
        <>
          They lose access at once, to {m.projects.length} {m.projects.length === 1 ? 'project' : 'projects'} with a
          role of their own. Tasks that they hold go back to the queue; what they submitted stays. API keys that they
          created refuse ZIP uploads from then on.
        </>
      ),
      confirmLabel: 'Remove',
      danger: true,
    });
    if (!yes) return;
    remove.mutate(m.person.id, {
      onSuccess: () => notify.done(`${m.person.name} is removed.`),
      onError: (err) => notify.failed(`remove ${m.person.name}`, err),
    });
  };

  return (
    <>
      <MemberTools filter={list.filter} setFilter={list.setFilter} fitting={list.fitting.length} all={members.length} />
      <List label="Members" columns={columns}>
        {list.shown.map((m) => {
          const last = m.role === 'org_admin' && admins === 1;
          return (
            <Row key={m.person.id}>
              <Cell>
                <PersonCell person={m.person} me={m.person.id === b.me.id} />
              </Cell>
              <Cell label="Role">
                <span title={last ? 'The last org admin keeps the role: make somebody else admin first.' : undefined}>
                  <RoleSelect
                    label={`Role of ${m.person.name}`}
                    roles={orgRoles}
                    value={m.role}
                    disabled={last || setRole.isPending}
                    onChange={(role) => void change(m, role)}
                  />
                </span>
              </Cell>
              <Cell label="Projects">
                <div className={classes.roles}>
                  {m.role === 'org_admin' && <span className={classes.role}>all</span>}
                  {m.projects.map((p) => (
                    <Link
                      key={p.project_id}
                      to="/projects/$projectId/members"
                      params={{ projectId: String(p.project_id) }}
                      className={classes.role}
                    >
                      {p.name} <span>{roleLabel(p.role).toLowerCase()}</span>
                    </Link>
                  ))}
                  {m.role !== 'org_admin' && m.projects.length === 0 && 'None yet'}
                </div>
              </Cell>
              <Cell label="Joined">
                <Ago at={m.joined_at} />
              </Cell>
              <Actions corner>
                {!last && (
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
          );
        })}
      </List>
      {list.more && (
        <Button variant="default" mt="sm" onClick={list.more}>
          Show more
        </Button>
      )}
    </>
  );
}
