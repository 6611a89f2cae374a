import { Button, Group, Switch, Text } from '@mantine/core';
import type { Reviewed } from '@/api';
import { ariaKeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import { type Notes, wrongFields } from './notes';
import classes from './ReviewWork.module.css';

interface Props {
  notes: Notes;
  fixed: Record<string, unknown>;
  reviewed: readonly Reviewed[];
  busy: boolean;
  disabled: boolean;
  next: boolean;
  setNext: (on: boolean) => void;
  accept: () => void;
  ask: (verdict: 'reject' | 'escalate') => void;
}

/** The verdicts, with their keys printed on them. */
export function ReviewBar(p: Props) {
  const fixes = Object.keys(p.fixed).length;
  const wrong = wrongFields(p.notes, p.reviewed).filter((f) => !Object.hasOwn(p.fixed, f)).length;
  return (
    <div className={classes.bar}>
      <Group gap="md">
        <Switch
          label="Then open the next one"
          checked={p.next}
          onChange={(e) => p.setNext(e.currentTarget.checked)}
          size="sm"
        />
        {wrong > 0 && (
          <Text size="sm" role="status">
            {wrong === 1 ? 'One field is' : `${wrong} fields are`} wrong and not fixed
          </Text>
        )}
      </Group>
      <Group gap="xs" justify="flex-end">
        <Button
          variant="default"
          onClick={() => p.ask('escalate')}
          disabled={p.disabled}
          rightSection={<Hotkey keys="e" />}
          aria-keyshortcuts={ariaKeys('e')}
        >
          Escalate…
        </Button>
        <Button
          variant={wrong > 0 ? 'filled' : 'default'}
          color="red"
          onClick={() => p.ask('reject')}
          disabled={p.disabled}
          rightSection={<Hotkey keys="r" onColor={wrong > 0} />}
          aria-keyshortcuts={ariaKeys('r')}
        >
          Reject…
        </Button>
        <Button
          variant={wrong > 0 ? 'default' : 'filled'}
          onClick={p.accept}
          loading={p.busy}
          disabled={p.disabled}
          rightSection={<Hotkey keys="mod+Enter" onColor={wrong === 0} />}
          aria-keyshortcuts={ariaKeys('mod+Enter')}
        >
          {fixes > 0 ? 'Fix and accept' : 'Accept'}
        </Button>
      </Group>
    </div>
  );
}
