import { Button, Group, Switch, Text } from '@mantine/core';
import { useSetting } from '@/features/account/settings';
import { ariaKeys } from '@/lib/hotkeys';
import { Hotkey } from '@/ui/Hotkey';
import classes from './work.module.css';

interface Props {
  onSubmit: () => void;
  onSkip: () => void;
  busy: boolean;
  disabled: boolean;
  /** How many things are wrong, after a first try. */
  problems: number;
}

/** Whether the next task opens after a submission; remembered for the person. */
export function useSubmitAndNext(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useSetting('work.next', true);
  return [on, setOn];
}

/** The end of the form: hand it in, and whether the next one follows. */
export function SubmitBar({ onSubmit, onSkip, busy, disabled, problems }: Props) {
  const [next, setNext] = useSubmitAndNext();
  return (
    <div className={classes.bar}>
      <Group gap="md">
        <Switch
          label="Then open the next one"
          checked={next}
          onChange={(e) => setNext(e.currentTarget.checked)}
          size="sm"
        />
        {problems > 0 && (
          <Text size="sm" c="var(--mantine-color-error)" role="status">
            {problems === 1 ? 'One thing needs a look' : `${problems} things need a look`}
          </Text>
        )}
      </Group>
      <Group gap="xs" justify="flex-end">
        <Button variant="default" onClick={onSkip} disabled={disabled || busy}>
          Skip
        </Button>
        <Button
          onClick={onSubmit}
          loading={busy}
          disabled={disabled}
          rightSection={<Hotkey keys="mod+Enter" onColor />}
          aria-keyshortcuts={ariaKeys('mod+Enter')}
        >
          {next ? 'Submit and next' : 'Submit'}
        </Button>
      </Group>
    </div>
  );
}
