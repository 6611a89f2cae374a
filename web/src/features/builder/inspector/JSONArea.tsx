import { Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';

interface Props {
  label: string;
  description?: string;
  value: unknown;
  /** Called with what parses; undefined when the text is emptied. */
  onChange: (value: unknown) => void;
  /** Tells what is wrong with a value that parses. */
  check?: (value: unknown) => string | null;
  part?: string;
  placeholder?: string;
}

/** A JSON value as text. What does not parse stays here, with the reason, until it does. */
export function JSONArea({ label, description, value, onChange, check, part, placeholder }: Props) {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [error, setError] = useState<string | null>(null);
  const own = useRef(written);
  useEffect(() => {
    // Only what came from elsewhere, such as undo: the reader's own spacing stays.
    if (written === own.current) return;
    own.current = written;
    setText(written);
    setError(null);
  }, [written]);
  const type = (next: string) => {
    setText(next);
    if (next.trim() === '') {
      own.current = '';
      setError(null);
      onChange(undefined);
      return;
    }
    try {
      const parsed: unknown = JSON.parse(next);
      const wrong = check?.(parsed) ?? null;
      setError(wrong);
      if (wrong) return;
      own.current = JSON.stringify(parsed, null, 2);
      onChange(parsed);
    } catch (err) {
      setError(err instanceof Error ? err.message : 'This is not JSON');
    }
  };
  return (
    <Textarea
      data-part={part}
      data-own-undo
      label={label}
      description={description}
      placeholder={placeholder}
      autosize
      minRows={2}
      maxRows={14}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      value={text}
      error={error}
      onChange={(e) => type(e.currentTarget.value)}
    />
  );
}
