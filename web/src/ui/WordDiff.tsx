import { Text, VisuallyHidden } from '@mantine/core';
import { useMemo } from 'react';
import { valueText, wordDiff } from './textDiff';
import classes from './WordDiff.module.css';

interface Props {
  before: unknown;
  after: unknown;
  /** Says what is compared, for who cannot see the colors. */
  label?: string;
}

/** What changed from one value to another, word by word: struck out and underlined, not by color alone. */
export function WordDiff({ before, after, label }: Props) {
  const [a, b] = [valueText(before), valueText(after)];
  const segments = useMemo(() => wordDiff(a, b), [a, b]);
  if (a === b) {
    return (
      <Text size="sm" c="dimmed">
        No change
      </Text>
    );
  }
  return (
    <Text component="div" size="sm" className={classes.diff}>
      {label && <VisuallyHidden>{label}: </VisuallyHidden>}
      {keyed(segments).map(({ key, kind, text }) => {
        if (kind === 'added') {
          return (
            <ins key={key} className={classes.added}>
              <VisuallyHidden>added: </VisuallyHidden>
              {text}
            </ins>
          );
        }
        if (kind === 'removed') {
          return (
            <del key={key} className={classes.removed}>
              <VisuallyHidden>removed: </VisuallyHidden>
              {text}
            </del>
          );
        }
        return <span key={key}>{text}</span>;
      })}
    </Text>
  );
}

/** Each segment with the offset that it begins at, which names it. */
function keyed(segments: ReturnType<typeof wordDiff>) {
  let at = 0;
  return segments.map((s) => {
    const key = `${at}${s.kind}`;
    at += s.text.length;
    return { ...s, key };
  });
}
