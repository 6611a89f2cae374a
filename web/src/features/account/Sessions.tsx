import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { body, endOtherSessions, endSession, listSessions } from '@/api';
import { usePrefs } from '@/lib/prefs';
import { absolute, day } from '@/lib/time';
import { Ago } from '@/ui/Ago';
import { ErrorNote } from '@/ui/ErrorNote';
import { Actions, Cell, List, Row } from '@/ui/List';
import { notify } from '@/ui/notify';
import { RowsSkeleton } from '@/ui/PageSkeleton';
import quiet from '@/ui/quiet.module.css';
import { Section } from '@/ui/Section';
import { StatusBadge } from '@/ui/StatusBadge';
import { agentName } from './agent';

/** More than these are rarely looked for. */
const shownAtFirst = 6;

const columns = ['Browser', 'Last used', 'Since', 'Ends', ''];

export function Sessions() {
  const client = useQueryClient();
  const { zone } = usePrefs();
  const sessions = useQuery({
    queryKey: ['listSessions'],
    queryFn: () => body(listSessions()),
    refetchInterval: 30_000,
  });
  const settled = () => client.invalidateQueries({ queryKey: ['listSessions'] });
  const end = useMutation({
    mutationFn: (id: number) => body(endSession({ path: { session_id: id } })),
    onError: (err) => notify.failed('end the session', err),
    onSettled: settled,
  });
  const endOthers = useMutation({
    mutationFn: () => body(endOtherSessions()),
    onSuccess: ({ ended }) => notify.done(ended === 1 ? 'One session is ended.' : `${ended} sessions are ended.`),
    onError: (err) => notify.failed('end the other sessions', err),
    onSettled: settled,
  });
  const [showAll, setShowAll] = useState(false);
  const all = sessions.data?.sessions ?? [];
  const mine = [...all.filter((s) => s.current), ...all.filter((s) => !s.current)];
  const list = showAll ? mine : mine.slice(0, shownAtFirst);
  return (
    <Section
      title="Sessions"
      lead="Where you are logged in. One that you do not know: end it and change your password."
      actions={
        all.length > 1 && (
          <Button variant="default" size="xs" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all others
          </Button>
        )
      }
    >
      {sessions.isPending && <RowsSkeleton rows={2} />}
      {sessions.error && !sessions.data && (
        <ErrorNote error={sessions.error} doing="list the sessions" retry={() => void sessions.refetch()} />
      )}
      {list.length > 0 && (
        <List label="Sessions" columns={columns}>
          {list.map((s) => (
            <Row key={s.id}>
              <Cell>
                <span title={s.agent}>{agentName(s.agent)}</span>{' '}
                {s.current && <StatusBadge status="active">this one</StatusBadge>}
              </Cell>
              <Cell label="Last used">
                <Ago at={s.seen_at} />
              </Cell>
              <Cell label="Since">
                <time dateTime={s.created_at} title={absolute(s.created_at, zone)}>
                  {day(s.created_at, zone)}
                </time>
              </Cell>
              <Cell label="Ends">
                <Ago at={s.expires_at} />
              </Cell>
              <Actions corner>
                {!s.current && (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="gray"
                    className={quiet.button}
                    onClick={() => end.mutate(s.id)}
                    aria-label={`End the session of ${agentName(s.agent)}`}
                  >
                    End
                  </Button>
                )}
              </Actions>
            </Row>
          ))}
        </List>
      )}
      {all.length > list.length && (
        <Button variant="subtle" size="compact-sm" mt={8} onClick={() => setShowAll(true)}>
          Show all {all.length}
        </Button>
      )}
    </Section>
  );
}
