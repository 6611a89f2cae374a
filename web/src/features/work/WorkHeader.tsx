import { Anchor, Button, Group, Menu, Text, Title } from '@mantine/core';
import { IconBook, IconDotsVertical } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { Work } from '@/api';
import { ariaKeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import { LeaseClock } from './lease/LeaseClock';
import type { Lease } from './lease/useLease';
import classes from './work.module.css';

interface Props {
  work: Work;
  lease: Lease;
  /** Where the draft is. */
  chip?: ReactNode;
  instructions: { open: boolean; any: boolean; show: (on: boolean) => void };
  onRelease: (skip: boolean) => void;
  /** What the person must see wherever they have scrolled to. */
  urgent?: ReactNode;
  /** The claim is over. */
  over?: boolean;
}

/** What stands above a claim, wherever one scrolls: which task, its time, and where the draft is. */
export function WorkHeader({ work, lease, chip, instructions, onRelease, over, urgent }: Props) {
  const title = work.title || work.node;
  useEffect(() => {
    document.title = `${title} · task ${work.task_id} · Taskloom`;
  }, [title, work.task_id]);
  const role = work.kind === 'review' ? 'reviewer' : 'contributor';
  return (
    <header className={classes.sticky}>
      <div className={classes.header}>
        <div className={classes.names}>
          <Title order={1} size="h4" lineClamp={2}>
            {title}
          </Title>
          <Text size="sm" c="dimmed" lineClamp={1}>
            Task {work.task_id} ·{' '}
            <Anchor
              component={Link}
              to={`/pipelines/${work.pipeline_id}/work?role=${role}`}
              size="sm"
              underline="always"
              c="dimmed"
            >
              {work.pipeline}
            </Anchor>
            {work.iteration > 1 && ` · round ${work.iteration}`}
          </Text>
        </div>
        <Group gap="xs" className={classes.tools}>
          {chip}
          {!over && <LeaseClock lease={lease} />}
          {instructions.any && (
            <Button
              size="xs"
              variant={instructions.open ? 'light' : 'default'}
              leftSection={<IconBook size={16} />}
              rightSection={<Hotkey keys="i" />}
              onClick={() => instructions.show(!instructions.open)}
              aria-expanded={instructions.open}
              aria-controls="instructions"
              aria-keyshortcuts={ariaKeys('i')}
            >
              Instructions
            </Button>
          )}
          {!over && (
            <Menu position="bottom-end" withinPortal>
              <Menu.Target>
                <Button size="xs" variant="default" px={8} aria-label="More about this task">
                  <IconDotsVertical size={16} />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  onClick={() => {
                    lease.extend().catch(() => {});
                  }}
                >
                  Extend the time
                </Menu.Item>
                <Menu.Item onClick={() => onRelease(false)}>Release with a reason…</Menu.Item>
                <Menu.Item onClick={() => onRelease(true)}>Skip this task…</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </Group>
      </div>
      {urgent && <div className={classes.urgent}>{urgent}</div>}
    </header>
  );
}
