import { Timeline as Rail, Text } from '@mantine/core';
import type { TaskEvent, TaskSubmission } from '@/api';
import { Ago } from '@/ui/Ago';
import { type Names, tell } from './journal';

const colors = { plain: 'gray', good: 'teal', bad: 'red', warn: 'orange' };

interface Props {
  events: TaskEvent[];
  names: Names;
  /** What was handed in on the task. */
  submissions: readonly TaskSubmission[];
}

/** What happened to a task, newest first, in plain words. */
export function Timeline({ events, names, submissions }: Props) {
  return (
    <Rail bulletSize={12} lineWidth={2} active={events.length}>
      {events.map((e) => {
        const t = tell(e, names, submissions);
        return (
          <Rail.Item key={t.seq} color={colors[t.tone]} mt={14}>
            <Text size="sm" mt={-3}>
              <Text span fw={600} inherit>
                {t.who}
              </Text>{' '}
              {t.text}
            </Text>
            {t.reason && (
              <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {t.actor === null ? `Because ${t.reason}` : `“${t.reason}”`}
              </Text>
            )}
            <Text size="xs" c="dimmed">
              <Ago at={t.at} />
            </Text>
          </Rail.Item>
        );
      })}
    </Rail>
  );
}
