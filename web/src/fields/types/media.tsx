import { Anchor, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { IconCheck, IconExternalLink, IconZoomIn } from '@tabler/icons-react';
import { type SyntheticEvent, useState } from 'react';
import { fieldLabel } from '../engine/options';
import { member } from '../engine/value';
import type { DisplayProps } from '../props';
import { openable } from './text';

interface Source {
  url: string;
  /** From our storage, of a checked type. */
  stored: boolean;
  name: string;
}

/** Where the media is: in the storage, or at an address of the web. */
function sourceOf({ value, files }: DisplayProps): Source | undefined {
  const id = member(value, 'file_id');
  const file = files?.find((f) => f.file_id === id);
  if (file) return { url: file.url, stored: true, name: file.name };
  const url = member(value, 'url');
  return typeof url === 'string' && openable(url) ? { url, stored: false, name: url } : undefined;
}

/**
 * Pages load nothing from other hosts: a picture there would tell its owner who looks at which task, and when. People
 * may open it.
 */
function elsewhere(source: Source | undefined): boolean {
  return (
    source !== undefined &&
    !source.stored &&
    new URL(source.url, window.location.href).origin !== window.location.origin
  );
}

function Missing({ what }: { what: string }) {
  return (
    <Text c="dimmed" fs="italic">
      The {what} cannot be found.
    </Text>
  );
}

/** What could not be shown in the page may still be opened beside it; more cannot be asked for then. */
function Broken({ source, what, onOpen }: { source: Source; what: string; onOpen?: () => void }) {
  return (
    <Text size="sm">
      The {what} cannot be shown here.{' '}
      <Anchor href={source.url} target="_blank" rel="noopener noreferrer nofollow" underline="always" onClick={onOpen}>
        Open it in a new tab <IconExternalLink size={14} style={{ verticalAlign: 'text-bottom' }} />
      </Anchor>
    </Text>
  );
}

export function ImageDisplay(p: DisplayProps) {
  const source = sourceOf(p);
  const [broken, setBroken] = useState(() => elsewhere(source));
  const [open, setOpen] = useState(false);
  if (!source) return <Missing what="image" />;
  if (broken) return <Broken source={source} what="image" />;
  const alt = p.field.description || fieldLabel(p.field);
  return (
    <Stack gap={4} align="flex-start">
      <img
        src={source.url}
        alt={alt}
        referrerPolicy="no-referrer"
        onError={() => setBroken(true)}
        style={{ maxWidth: '100%', maxHeight: '60vh', objectFit: 'contain', borderRadius: 6 }}
      />
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconZoomIn size={16} />}
        onClick={() => setOpen(true)}
        aria-label={`Show ${alt} in full size`}
      >
        Full size
      </Button>
      <Modal opened={open} onClose={() => setOpen(false)} fullScreen title={alt}>
        <img src={source.url} alt={alt} referrerPolicy="no-referrer" style={{ display: 'block', margin: 'auto' }} />
      </Modal>
    </Stack>
  );
}

/** The share of a media that was played, from 0 to 1, wherever the person jumped. */
export function playedShare(media: Pick<HTMLMediaElement, 'played' | 'duration'>): number {
  if (!Number.isFinite(media.duration) || media.duration <= 0) return 0;
  let seconds = 0;
  for (let i = 0; i < media.played.length; i++) seconds += media.played.end(i) - media.played.start(i);
  return Math.min(1, seconds / media.duration);
}

/** So much counts as all of it: players leave out the very ends. */
const enough = 0.97;

function usePlayed(p: DisplayProps) {
  const [share, setShare] = useState(0);
  const watch = (e: SyntheticEvent<HTMLMediaElement>) => {
    const now = playedShare(e.currentTarget);
    setShare((old) => Math.max(old, now));
    if (now >= enough) p.onPlayed?.();
  };
  return { share, events: { onTimeUpdate: watch, onEnded: watch, onPause: watch } };
}

function PlayedNote({ field, share, done }: { field: DisplayProps['field']; share: number; done?: boolean }) {
  if (!field.rules?.played_fully) return null;
  const all = done || share >= enough;
  return (
    <Group gap={6}>
      {all && <IconCheck size={16} />}
      <Text size="xs" c="dimmed">
        {all ? 'Played to its end' : `Play it to its end before you submit (${Math.floor(share * 100)} % so far)`}
      </Text>
    </Group>
  );
}

export function AudioDisplay(p: DisplayProps) {
  const source = sourceOf(p);
  const [broken, setBroken] = useState(() => elsewhere(source));
  const { share, events } = usePlayed(p);
  if (!source) return <Missing what="recording" />;
  if (broken) return <Broken source={source} what="recording" onOpen={p.onPlayed} />;
  return (
    <Stack gap={4}>
      <audio
        src={source.url}
        controls
        preload="metadata"
        onError={() => setBroken(true)}
        aria-label={fieldLabel(p.field)}
        style={{ width: '100%' }}
        {...events}
      />
      <PlayedNote field={p.field} share={share} done={p.played} />
    </Stack>
  );
}

export function VideoDisplay(p: DisplayProps) {
  const source = sourceOf(p);
  const [broken, setBroken] = useState(() => elsewhere(source));
  const { share, events } = usePlayed(p);
  if (!source) return <Missing what="video" />;
  if (broken) return <Broken source={source} what="video" onOpen={p.onPlayed} />;
  return (
    <Stack gap={4}>
      <video
        src={source.url}
        controls
        preload="metadata"
        onError={() => setBroken(true)}
        aria-label={fieldLabel(p.field)}
        style={{ maxWidth: '100%', maxHeight: '60vh' }}
        {...events}
      />
      <PlayedNote field={p.field} share={share} done={p.played} />
    </Stack>
  );
}

/** Stored documents are shown in the page; those of other hosts open beside it. */
export function PDFDisplay(p: DisplayProps) {
  const source = sourceOf(p);
  if (!source) return <Missing what="document" />;
  return (
    <Stack gap={6}>
      {source.stored && (
        <iframe
          src={source.url}
          title={fieldLabel(p.field)}
          style={{ width: '100%', height: '70vh', border: '1px solid var(--mantine-color-default-border)' }}
        />
      )}
      <Anchor href={source.url} target="_blank" rel="noopener noreferrer nofollow" size="sm">
        Open {source.stored ? source.name : 'the document'} in a new tab
      </Anchor>
      {p.field.rules?.played_fully && p.onPlayed && (
        <Checkbox
          label="I have read it to its end"
          checked={p.played ?? false}
          onChange={(e) => e.currentTarget.checked && p.onPlayed?.()}
        />
      )}
    </Stack>
  );
}
