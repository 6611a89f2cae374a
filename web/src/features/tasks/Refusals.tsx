import { Anchor, Button, Group, List, ScrollArea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { count } from '@/features/pipelines/lifecycle';
import { type BulkFailure, byReason } from './bulk';

/** The refused tasks, one line a reason. */
export function Refusals({ failed }: { failed: readonly BulkFailure[] }) {
  return (
    <ScrollArea.Autosize mah={200} type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Refused' }}>
      <List size="sm" spacing={6}>
        {byReason(failed).map(([reason, ids]) => (
          <List.Item key={reason}>
            {count(ids.length, 'task')}: {reason}
            <Named ids={ids} />
          </List.Item>
        ))}
      </List>
    </ScrollArea.Autosize>
  );
}

/** How many tasks of one reason are named before all are asked for. */
const namedFirst = 5;

function Named({ ids }: { ids: readonly number[] }) {
  const [all, setAll] = useState(false);
  return (
    <Group gap={8}>
      {(all ? ids : ids.slice(0, namedFirst)).map((id) => (
        <Anchor key={id} component={Link} to={`/tasks/${id}`} inherit>
          Task {id}
        </Anchor>
      ))}
      {ids.length > namedFirst && (
        <Button variant="subtle" size="compact-xs" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${ids.length.toLocaleString('en')}`}
        </Button>
      )}
    </Group>
  );
}
