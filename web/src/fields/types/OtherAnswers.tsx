import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';

interface Props {
  /** Everything that is chosen, options included. */
  chosen: readonly string[];
  isOption: (v: string) => boolean;
  /** Options that stand alone: another answer takes their place. */
  exclusive: readonly string[];
  onChange: (chosen: string[]) => void;
  disabled?: boolean;
}

/**
 * Answers beside the options, one a line. The one that is being typed is among the chosen with every letter: a hand-in
 * by keyboard leaves the focus where it is, and no line would be ended before it.
 */
export function OtherAnswers({ chosen, isOption, exclusive, onChange, disabled }: Props) {
  const [typed, setTyped] = useState('');
  /** What the open line put among the chosen; nothing when it says what is chosen anyway. */
  const [own, setOwn] = useState<string>();
  // When the answer became another one meanwhile, as by another tab, an old line would look as if it counted.
  const line = typed.trim() === '' || chosen.includes(typed.trim()) ? typed : '';
  const type = (text: string) => {
    const answer = text.trim();
    const others = chosen.filter((c) => c !== own);
    const adds = answer !== '' && !others.includes(answer);
    setTyped(text);
    setOwn(adds ? answer : undefined);
    if (adds) onChange([...others.filter((c) => !exclusive.includes(c)), answer]);
    else if (others.length < chosen.length) onChange(others);
  };
  const end = () => {
    setTyped('');
    setOwn(undefined);
  };
  const ended = chosen.filter((c) => !isOption(c) && (c !== own || line === ''));
  return (
    <Stack gap={6}>
      {ended.map((text) => (
        <Checkbox
          key={text}
          checked
          onChange={() => onChange(chosen.filter((c) => c !== text))}
          label={text}
          disabled={disabled}
        />
      ))}
      <TextInput
        aria-label="Another answer"
        placeholder="Another answer, Enter to add it"
        size="xs"
        maw={320}
        value={line}
        onChange={(e) => type(e.currentTarget.value)}
        onBlur={end}
        onKeyDown={(e) => {
          if (e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.nativeEvent.isComposing) return;
          e.preventDefault();
          end();
        }}
        disabled={disabled}
      />
    </Stack>
  );
}
