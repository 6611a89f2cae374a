import { Anchor, Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Key, NewKey } from '@/api';
import { useMe } from '@/features/session/me';
import { useHotkeys } from '@/lib/hotkeys';
import { useNow } from '@/lib/ticking';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { confirm } from '@/ui/ConfirmDialog';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Hotkey } from '@/ui/Hotkey';
import { List } from '@/ui/List';
import { notify } from '@/ui/notify';
import { Page } from '@/ui/Page';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import { CreateKeyDialog } from './CreateKeyDialog';
import { ExpiryDialog } from './ExpiryDialog';
import { KeyRow } from './KeyRow';
import { NewKeyDialog } from './NewKeyDialog';
import { keysQuery, useRevokeKey } from './queries';

const columns = ['Key', 'Last Used', 'Expires', 'Created', 'Created By', ''];

/** Keys of the External API. Only what is shown once can be copied. */
export default function KeysPage() {
  const { orgId } = useParams({ from: '/shell/orgs/$orgId/keys' });
  const b = useMe();
  if (!b.isOrgAdmin(orgId)) return <AdminsOnly title="API keys" of="the organization" />;
  return <Keys orgId={Number(orgId)} />;
}

function Keys({ orgId }: { orgId: number }) {
  const b = useMe();
  const now = useNow();
  const keys = useQuery(keysQuery(orgId));
  const revoke = useRevokeKey(orgId);
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewKey | null>(null);
  const [changing, setChanging] = useState<Key | null>(null);
  useHotkeys([{ keys: 'n', label: 'Create a key', group: 'API keys', run: () => setCreating(true) }]);

  const pipelines = b.projects.filter((p) => p.org_id === orgId).flatMap((p) => p.pipelines);
  const pipeline = pipelines.find((p) => p.status === 'ACTIVE') ?? pipelines.find((p) => p.status !== 'DRAFT');

  const ask = async (key: Key) => {
    const yes = await confirm({
      title: `Revoke “${key.name}”?`,
      body: (
        <>
          Every request with the key pk_live_…{key.last4} is refused from now on. This cannot be taken back; the key
          stays in the list, so that it is known that there was one.
        </>
      ),
      confirmLabel: 'Revoke key',
      typed: 'revoke',
      danger: true,
    });
    if (!yes) return;
    revoke.mutate(key.id, {
      onSuccess: () => notify.done(`“${key.name}” is revoked.`),
      onError: (err) => notify.failed('revoke the key', err),
    });
  };

  const create = (
    <Button onClick={() => setCreating(true)} rightSection={<Hotkey keys="n" onColor />} aria-keyshortcuts="n">
      Create key
    </Button>
  );
  const list = keys.data?.keys ?? [];
  return (
    <Page
      title="API keys"
      lead={
        <>
          For programs that create tasks and read their status over the{' '}
          <Anchor href="/api/v1/docs" target="_blank" inherit underline="always">
            External API
          </Anchor>
          . A key reaches every pipeline of {b.org(orgId)?.name}.
        </>
      }
      actions={list.length > 0 && create}
    >
      {keys.isPending && <RowsSkeleton />}
      {keys.error && !keys.data && (
        <ErrorNote error={keys.error} doing="list the keys" retry={() => void keys.refetch()} />
      )}
      {keys.data && list.length === 0 && (
        <EmptyState title="No keys yet" action={create}>
          A key lets another system send work here. It is shown once, when it is created.
        </EmptyState>
      )}
      {list.length > 0 && (
        <Stack gap="xs">
          <List label="API keys" columns={columns}>
            {list.map((key) => (
              <KeyRow
                key={key.id}
                of={key}
                now={now}
                changeExpiry={() => setChanging(key)}
                revoke={() => void ask(key)}
              />
            ))}
          </List>
        </Stack>
      )}
      {creating && (
        <CreateKeyDialog
          orgId={orgId}
          close={() => setCreating(false)}
          created={(key) => {
            setCreating(false);
            setCreated(key);
          }}
        />
      )}
      {created && <NewKeyDialog created={created} pipelineId={pipeline?.id} close={() => setCreated(null)} />}
      {changing && <ExpiryDialog orgId={orgId} of={changing} close={() => setChanging(null)} />}
    </Page>
  );
}
