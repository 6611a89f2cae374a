import type { TextInputProps } from '@mantine/core';
import { parseSpan, spanWords, writeSpan } from '@/pipeline/span';
import { CommitPart } from './controls';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'error'> & {
  part: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** What an empty one means. */
  fallback: string;
  /** Bounds in seconds. */
  least: number;
  most: number;
};

/** A time span such as 30m or 1h 30m. */
export function SpanPart({ value, onChange, fallback, least, most, description, ...rest }: Props) {
  const seconds = value === undefined ? undefined : parseSpan(value);
  return (
    <CommitPart
      {...rest}
      placeholder={fallback}
      description={description}
      value={seconds === undefined ? value : writeSpan(seconds)}
      onChange={(v) => {
        const s = v === undefined ? undefined : parseSpan(v);
        onChange(s === undefined || s === 0 ? undefined : writeSpan(s));
      }}
      check={(text) => {
        if (text.trim() === '') return null;
        const s = parseSpan(text);
        if (s === undefined) return 'Write it as 45s, 30m, 1h 30m or 2d';
        if (s < least || s > most) return `Between ${spanWords(least)} and ${spanWords(most)}`;
        return null;
      }}
    />
  );
}
