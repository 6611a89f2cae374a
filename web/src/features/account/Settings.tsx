import { SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useId } from 'react';
import { notify } from '@/ui/notify';
import { Section } from '@/ui/Section';
import classes from './account.module.css';
import { useSetting } from './settings';

export function Settings() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [zone, setZone, { error: zoneError }] = useSetting<'local' | 'utc'>('time.zone', 'local');
  const [density, setDensity, { error: densityError }] = useSetting<'comfortable' | 'compact'>(
    'density',
    'comfortable',
  );
  const [single, setSingle, { error: singleError }] = useSetting('hotkeys.single', true);
  const [next, setNext, { error: nextError }] = useSetting('work.next', true);
  const error = zoneError ?? densityError ?? singleError ?? nextError;
  useEffect(() => {
    if (error) notify.failed('save the setting', error);
  }, [error]);
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

  return (
    <Section title="Settings" lead="They follow you to every browser, but for the colours.">
      <div className={classes.card}>
        <Choice
          label="Colours"
          value={colorScheme}
          onChange={setColorScheme}
          options={[
            ['auto', 'System'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
        />
        <Choice
          label="Rows of lists"
          value={density}
          onChange={setDensity}
          options={[
            ['comfortable', 'Comfortable'],
            ['compact', 'Compact'],
          ]}
        />
        <Choice
          label="Times"
          help={`Yours is ${here}.`}
          value={zone}
          onChange={setZone}
          options={[
            ['local', 'Local'],
            ['utc', 'UTC'],
          ]}
        />
        <Toggle
          label="Submit and next"
          help="After a submission the next task opens by itself."
          checked={next}
          onChange={setNext}
        />
        <Toggle
          label="Shortcuts of one character"
          help="Such as n or ?. Switch them off if you dictate, or press keys by accident."
          checked={single}
          onChange={setSingle}
        />
      </div>
    </Section>
  );
}

interface ChoiceProps<V extends string> {
  label: string;
  help?: ReactNode;
  value: V;
  onChange: (value: V) => void;
  options: [V, string][];
}

function Choice<V extends string>({ label, help, value, onChange, options }: ChoiceProps<V>) {
  const id = useId();
  return (
    <div className={classes.setting}>
      <div>
        <div id={id}>{label}</div>
        {help && <div className={classes.help}>{help}</div>}
      </div>
      <SegmentedControl
        size="xs"
        aria-labelledby={id}
        value={value}
        onChange={(v) => onChange(v as V)}
        data={options.map(([value, label]) => ({ value, label }))}
      />
    </div>
  );
}

interface ToggleProps {
  label: string;
  help: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function Toggle({ label, help, checked, onChange }: ToggleProps) {
  const id = useId();
  return (
    <div className={classes.setting}>
      <div>
        <label htmlFor={id}>{label}</label>
        <div className={classes.help} id={`${id}-help`}>
          {help}
        </div>
      </div>
      <Switch
        id={id}
        aria-describedby={`${id}-help`}
        checked={checked}
        onChange={(e) => onChange(e.currentTarget.checked)}
      />
    </div>
  );
}
