import { Button, Code, Group, Text, Tooltip } from '@mantine/core';
import type { Key } from '@/api';
import { usePrefs } from '@/lib/prefs';
import { absolute, day } from '@/lib/time';
import { Ago } from '@/ui/Ago';
import { Actions, Cell, Row } from '@/ui/List';
import quiet from '@/ui/quiet.module.css';
import { StatusBadge } from '@/ui/StatusBadge';
import { stateOf } from './expiry';

interface Props {
  of: Key;
  now: number;
  changeExpiry: () => void;
  revoke: () => void;
}

export function KeyRow({ of: key, now, changeExpiry, revoke }: Props) {
  const state = stateOf(key, now);
  const { zone } = usePrefs();
  return (
    <Row past={state === 'revoked'}>
      <Cell>
        <div>
          <Text fw={600} size="sm" c="inherit">
            {key.name}
          </Text>
          <Code fz="xs" bg="transparent" p={0} c="dimmed">
            pk_live_…{key.last4}
          </Code>
        </div>
      </Cell>
      <Cell label="Last Used">{key.last_used_at ? <Ago at={key.last_used_at} /> : 'Never'}</Cell>
      <Cell label="Expires">
        {state === 'revoked' ? (
          <StatusBadge status="revoked">
            revoked <Ago at={key.revoked_at} />
          </StatusBadge>
        ) : state === 'expired' ? (
          <StatusBadge status="failed">
            expired <Ago at={key.expires_at} />
          </StatusBadge>
        ) : state === 'soon' ? (
          <StatusBadge status="paused">
            <Ago at={key.expires_at} />
          </StatusBadge>
        ) : key.expires_at ? (
          <time dateTime={key.expires_at} title={absolute(key.expires_at, zone)}>
            {day(key.expires_at, zone)}
          </time>
        ) : (
          'No expiry'
        )}
      </Cell>
      <Cell label="Created">
        <time dateTime={key.created_at} title={absolute(key.created_at, zone)}>
          {day(key.created_at, zone)}
        </time>
      </Cell>
      <Cell label="Created By">
        <span>
          {key.created_by}
          {key.creator_removed && (
            <Tooltip
              multiline
              w={280}
              label="The creator is no member any more: uploads with this key are refused. Revoke it and create another."
            >
              <Text span size="xs" c="red" ml={6}>
                removed
              </Text>
            </Tooltip>
          )}
        </span>
      </Cell>
      <Actions>
        {state !== 'revoked' && (
          <Group gap={4} wrap="nowrap" justify="flex-end" display="inline-flex">
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              className={quiet.button}
              onClick={changeExpiry}
              aria-label={`Change the expiry of ${key.name}`}
            >
              Expiry
            </Button>
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              className={quiet.button}
              onClick={revoke}
              aria-label={`Revoke ${key.name}`}
            >
              Revoke
            </Button>
          </Group>
        )}
      </Actions>
    </Row>
  );
}
