import { Button, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invite } from '@/api';
import { Ago } from '@/ui/Ago';
import { confirm } from '@/ui/ConfirmDialog';
import { ErrorNote } from '@/ui/ErrorNote';
import { Actions, Cell, List, Row } from '@/ui/List';
import { notify } from '@/ui/notify';
import quiet from '@/ui/quiet.module.css';
import { StatusBadge } from '@/ui/StatusBadge';
import classes from './people.module.css';
import { invitesQuery, useRevokeInvite, type Where } from './queries';
import { roleLabel } from './roles';

const columns = ['Email', 'Brings', 'Invited by', 'Status', ''];

/** Open invites; those that are over on demand. */
export function Invites({ where, invite }: { where: Where; invite: () => void }) {
  const invites = useQuery(invitesQuery(where));
  const revoke = useRevokeInvite(where);
  const [all, setAll] = useState(false);
  if (invites.error && !invites.data) {
    return <ErrorNote error={invites.error} doing="list the invites" retry={() => void invites.refetch()} />;
  }
  const list = invites.data?.invites ?? [];
  if (list.length === 0) return null;
  const open = list.filter((i) => i.status === 'open');
  const shown = all ? list : open;

  const ask = async (i: Invite) => {
    const yes = await confirm({
      title: `Revoke the invite for ${i.email}?`,
      body: 'Its link stops working at once. You can invite them again.',
      confirmLabel: 'Revoke invite',
      danger: true,
    });
    if (!yes) return;
    revoke.mutate(i.id, {
      onSuccess: () => notify.done(`The invite for ${i.email} is revoked.`),
      onError: (err) => notify.failed('revoke the invite', err),
    });
  };

  return (
    <section style={{ marginTop: 28 }}>
      <div className={classes.tools}>
        <Title order={2} size="h3">
          Invites
        </Title>
        {list.length > open.length && (
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(!all)} aria-expanded={all}>
            {all ? 'Only open ones' : `Show ${list.length - open.length} that are over`}
          </Button>
        )}
      </div>
      {shown.length === 0 ? (
        <p className={classes.count}>
          No open invites.{' '}
          <Button size="compact-sm" variant="subtle" onClick={invite}>
            Invite somebody
          </Button>
        </p>
      ) : (
        <List label="Invites" columns={columns}>
          {shown.map((i) => (
            <Row key={i.id} past={i.status !== 'open'}>
              <Cell>{i.email}</Cell>
              <Cell label="Brings">
                <div className={classes.roles}>
                  {i.role === 'org_admin' && <span className={classes.role}>{roleLabel(i.role)}</span>}
                  {i.projects.map((p) => (
                    <span key={p.project_id} className={classes.role}>
                      {p.name} <span>{roleLabel(p.role).toLowerCase()}</span>
                    </span>
                  ))}
                  {i.role === 'member' && i.projects.length === 0 && 'Membership'}
                </div>
              </Cell>
              <Cell label="Invited by">
                <span>
                  {i.invited_by.name}, <Ago at={i.created_at} />
                </span>
              </Cell>
              <Cell label="Status">
                <StatusBadge status={i.status}>
                  {i.status === 'open' ? (
                    <>
                      open, ends <Ago at={i.expires_at} />
                    </>
                  ) : undefined}
                </StatusBadge>
              </Cell>
              <Actions corner>
                {i.status === 'open' && (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="gray"
                    className={quiet.button}
                    onClick={() => void ask(i)}
                    aria-label={`Revoke the invite for ${i.email}`}
                  >
                    Revoke
                  </Button>
                )}
              </Actions>
            </Row>
          ))}
        </List>
      )}
    </section>
  );
}
