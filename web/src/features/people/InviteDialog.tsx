import { Button, Checkbox, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { asAPIError } from '@/api';
import { useMe } from '@/features/session/me';
import { ErrorNote } from '@/ui/ErrorNote';
import { InviteLink } from './InviteLink';
import classes from './people.module.css';
import { useInvite, type Where } from './queries';
import { RoleSelect } from './RoleSelect';
import { type OrgRole, orgRoles, type ProjectRole, projectRoles } from './roles';

/** For whom and as what; then the link to send them. */
export function InviteDialog({ where, close }: { where: Where; close: () => void }) {
  const invite = useInvite(where);
  const made = invite.data;
  // On its way it cannot be called back: there would be a link that nobody has seen.
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true, disabled: !invite.isPending });
  const leave = () => !invite.isPending && close();
  return (
    <Modal opened onClose={leave} title={made ? 'Send them this link' : 'Invite somebody'} closeOnClickOutside={!made}>
      {made ? <InviteLink made={made} close={close} /> : <InviteForm where={where} close={leave} invite={invite} />}
    </Modal>
  );
}

interface FormProps {
  where: Where;
  close: () => void;
  invite: ReturnType<typeof useInvite>;
}

function InviteForm({ where, close, invite }: FormProps) {
  const b = useMe();
  const inOrg = 'orgId' in where;
  const projects = inOrg ? b.projects.filter((p) => p.org_id === where.orgId) : [];
  const [email, setEmail] = useState('');
  const [orgRole, setOrgRole] = useState<OrgRole>('member');
  const [role, setRole] = useState<ProjectRole>('contributor');
  const [grants, setGrants] = useState<Record<number, ProjectRole>>(() => {
    const [only] = projects;
    return only && projects.length === 1 ? { [only.id]: 'contributor' } : {};
  });
  const wrong = invite.error ? asAPIError(invite.error).problems.find((p) => p.path?.includes('email')) : undefined;

  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        invite.mutate({
          email: email.trim(),
          role: inOrg ? orgRole : role,
          projects:
            orgRole === 'org_admin'
              ? []
              : Object.entries(grants).map(([id, r]) => ({ project_id: Number(id), role: r })),
        });
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Email"
          type="email"
          required
          withAsterisk={false}
          description="Only the person with this address can use the link."
          value={email}
          error={wrong?.message}
          onChange={(e) => setEmail(e.currentTarget.value)}
          data-autofocus
        />
        {inOrg ? (
          <Roles label="In the organization" roles={orgRoles} value={orgRole} onChange={setOrgRole} />
        ) : (
          <Roles label="In the project" roles={projectRoles} value={role} onChange={setRole} />
        )}
        {inOrg && orgRole === 'member' && projects.length > 0 && (
          <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
            <Text component="legend" size="sm" fw={500} mb={6}>
              Projects
            </Text>
            <div className={classes.grants}>
              {projects.map((p) => {
                const granted = grants[p.id];
                const { [p.id]: _, ...others } = grants;
                return (
                  <div key={p.id} className={classes.grant}>
                    <Checkbox
                      label={p.name}
                      checked={granted !== undefined}
                      onChange={(e) =>
                        setGrants(e.currentTarget.checked ? { ...grants, [p.id]: 'contributor' } : others)
                      }
                    />
                    {granted && (
                      <RoleSelect
                        label={`Role in ${p.name}`}
                        roles={projectRoles}
                        value={granted}
                        onChange={(r) => setGrants({ ...grants, [p.id]: r })}
                      />
                    )}
                  </div>
                );
              })}
            </div>
          </fieldset>
        )}
        {invite.error && !wrong && <ErrorNote error={invite.error} doing="make the invite" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} disabled={invite.isPending}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending} disabled={email.trim() === ''}>
            Make the link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface RolesProps<R extends string> {
  label: string;
  roles: { value: R; label: string; means: string }[];
  value: R;
  onChange: (role: R) => void;
}

function Roles<R extends string>({ label, roles, value, onChange }: RolesProps<R>) {
  return (
    <Radio.Group label={label} value={value} onChange={(r) => onChange(r as R)}>
      <Stack gap={8} mt={6}>
        {roles.map((r) => (
          <Radio key={r.value} value={r.value} label={r.label} description={r.means} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
