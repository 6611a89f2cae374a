import { ActionIcon, Anchor, Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { IconDownload, IconFile, IconRefresh, IconUpload, IconX } from '@tabler/icons-react';
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { File } from '@/api';
import { accepted, acceptOf } from '../engine/kinds/upload';
import { fieldLabel } from '../engine/options';
import { isObject } from '../engine/value';
import type { DisplayProps, InputProps } from '../props';
import { kindsOf } from '../upload/kinds';
import { type PendingUpload, pendingUploads, usePendingUploads } from '../upload/pending';
import { type FileValue, type Uploader, useUploader } from '../upload/uploader';
import { fileSize } from './fileSize';
import { Amount } from './list';

function filesOf(value: unknown): FileValue[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject) as unknown as FileValue[];
}

/**
 * What each field was given last, by its name and its form's uploader: every form has its own, and what is kept here
 * goes with it. Outside of React: a field that was hidden and is shown again is another instance than the one that
 * began an upload.
 */
const given = new WeakMap<Uploader, Map<string, InputProps>>();

function givenTo(uploader: Uploader): Map<string, InputProps> {
  const fields = given.get(uploader) ?? new Map<string, InputProps>();
  given.set(uploader, fields);
  return fields;
}

/** Files go straight to the storage; the answer has them when they are there. */
export function UploadInput(p: InputProps) {
  const uploader = useUploader();
  const pending = usePendingUploads().filter((u) => u.field === p.field.name);
  const picker = useRef<HTMLInputElement>(null);
  const [refusals, setRefusals] = useState<string[]>([]);
  const [over, setOver] = useState(false);
  const accept = acceptOf(p.field);
  const most = p.field.rules?.max_bytes;
  const values = filesOf(p.value);
  // What a finished upload is added to: the answer at that moment, not when it began.
  useEffect(() => {
    if (uploader) givenTo(uploader).set(p.field.name, p);
  });

  const put = (fields: Map<string, InputProps>, value: FileValue) => {
    const now = fields.get(p.field.name) ?? p;
    const next = p.field.multiple ? [...filesOf(now.value), value] : value;
    // A field that its condition hides gets no answers any more: the next upload adds to this one.
    fields.set(p.field.name, { ...now, value: next });
    now.onChange(next);
  };
  const start = (file: globalThis.File) => {
    if (!uploader) return;
    const abort = new AbortController();
    const id = pendingUploads.add({ field: p.field.name, file, abort: () => abort.abort() });
    const onProgress = (share: number) => pendingUploads.update(id, { share });
    uploader({ field: p.field.name, file, onProgress, signal: abort.signal }).then(
      (value) => {
        if (pendingUploads.get().some((u) => u.id === id)) put(givenTo(uploader), value);
        pendingUploads.remove(id);
      },
      (err: unknown) => {
        if (abort.signal.aborted) pendingUploads.remove(id);
        else pendingUploads.update(id, { error: err instanceof Error ? err.message : String(err) });
      },
    );
  };
  const take = (files: Iterable<globalThis.File>) => {
    const chosen = [...files].slice(0, p.field.multiple ? undefined : 1);
    const refused: string[] = [];
    for (const file of chosen) {
      if (!kindsOf(file).some((kind) => accepted(accept, file.name, kind)))
        refused.push(`${file.name}: only ${accept.join(', ')} is taken here.`);
      else if (most !== undefined && file.size > most) {
        refused.push(`${file.name} has ${fileSize(file.size)}; at most ${fileSize(most)} is taken here.`);
      } else if (file.size === 0) refused.push(`${file.name} is empty.`);
      else start(file);
    }
    setRefusals(refused);
  };
  const onDrop = (e: DragEvent) => {
    e.preventDefault();
    setOver(false);
    if (!p.disabled && uploader) take(e.dataTransfer.files);
  };
  const room = p.field.multiple || (values.length === 0 && pending.length === 0);
  return (
    <Stack gap="xs">
      {values.map((v) => (
        <Row key={v.file_id} file={v} link={p.files?.find((f) => f.file_id === v.file_id)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={() => {
              const rest = values.filter((old) => old.file_id !== v.file_id);
              p.onChange(p.field.multiple && rest.length > 0 ? rest : undefined);
            }}
            disabled={p.disabled}
            aria-label={`Remove ${v.name}`}
          >
            <IconX size={16} />
          </ActionIcon>
        </Row>
      ))}
      {pending.map((u) => (
        <PendingRow key={u.id} upload={u} retry={() => start(u.file)} />
      ))}
      {room && (
        <Paper
          withBorder
          p="md"
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={onDrop}
          style={{ borderStyle: 'dashed', borderColor: over ? 'var(--mantine-primary-color-filled)' : undefined }}
        >
          <Group gap="sm">
            <Button
              id={p.id}
              variant="default"
              leftSection={<IconUpload size={16} />}
              onClick={() => picker.current?.click()}
              disabled={p.disabled || !uploader}
              aria-label={`${p.label ?? fieldLabel(p.field)}: choose ${p.field.multiple ? 'files' : 'a file'}`}
              aria-describedby={p.describedBy}
            >
              {p.field.multiple ? 'Choose files' : 'Choose a file'}
            </Button>
            <Text size="sm" c="dimmed">
              or drop {p.field.multiple ? 'them' : 'it'} here
              {accept.length > 0 && ` · ${accept.join(', ')}`}
              {most !== undefined && ` · up to ${fileSize(most)}`}
              {!uploader && ' · nothing is uploaded here'}
            </Text>
          </Group>
          <input
            ref={picker}
            type="file"
            hidden
            multiple={p.field.multiple}
            accept={accept.join(',') || undefined}
            onChange={(e) => {
              take(e.currentTarget.files ?? []);
              e.currentTarget.value = '';
            }}
            aria-label={fieldLabel(p.field)}
          />
        </Paper>
      )}
      {refusals.map((text) => (
        <Text key={text} size="sm" c="var(--mantine-color-error)" role="alert">
          {text}
        </Text>
      ))}
      {p.field.multiple && <Amount n={values.length} field={p.field} one="file" many="files" />}
    </Stack>
  );
}

function PendingRow({ upload: u, retry }: { upload: PendingUpload; retry: () => void }) {
  return (
    <Paper withBorder p="xs">
      <Group gap="sm" wrap="nowrap">
        <IconFile size={18} />
        <Stack gap={4} flex={1} miw={0}>
          <Text size="sm" truncate>
            {u.file.name} · {fileSize(u.file.size)}
          </Text>
          {u.error ? (
            <Text size="xs" c="var(--mantine-color-error)" role="alert">
              {u.error}
            </Text>
          ) : (
            <Progress value={u.share * 100} aria-label={`Upload of ${u.file.name}`} />
          )}
        </Stack>
        {u.error && (
          <ActionIcon
            variant="default"
            onClick={() => {
              pendingUploads.remove(u.id);
              retry();
            }}
            aria-label={`Try ${u.file.name} again`}
          >
            <IconRefresh size={16} />
          </ActionIcon>
        )}
        <ActionIcon
          variant="subtle"
          color="gray"
          onClick={() => {
            u.abort();
            pendingUploads.remove(u.id);
          }}
          aria-label={`Cancel ${u.file.name}`}
        >
          <IconX size={16} />
        </ActionIcon>
      </Group>
    </Paper>
  );
}

/** A file that is there: its name, its size, and a link when there is one. */
function Row({ file, link, children }: { file: FileValue; link?: File; children?: ReactNode }) {
  return (
    <Paper withBorder p="xs">
      <Group gap="sm" wrap="nowrap">
        <IconFile size={18} />
        <Text size="sm" flex={1} style={{ overflowWrap: 'anywhere' }}>
          {link ? (
            <Anchor href={link.url} target="_blank" rel="noopener noreferrer">
              {file.name}
            </Anchor>
          ) : (
            file.name
          )}{' '}
          <Text span c="dimmed" size="sm">
            {fileSize(Number(file.size))}
          </Text>
        </Text>
        {link && (
          <ActionIcon
            component="a"
            href={link.download_url}
            variant="subtle"
            color="gray"
            aria-label={`Save ${file.name}`}
            download
          >
            <IconDownload size={16} />
          </ActionIcon>
        )}
        {children}
      </Group>
    </Paper>
  );
}

/**
 * Every answer of the server signs the address of a file anew. A picture keeps the one that it began with, for another
 * would begin it again, and on a slow line it would never end. One that fails goes on with the newest, and keeps that.
 */
function Picture({ url, name }: { url: string; name: string }) {
  const [kept, setKept] = useState(url);
  const [failed, setFailed] = useState<string>();
  if (kept === failed && url !== failed) setKept(url);
  return (
    <img
      src={kept}
      alt={name}
      onError={() => setFailed(kept)}
      style={{ maxWidth: '100%', maxHeight: 320, objectFit: 'contain' }}
    />
  );
}

export function UploadDisplay({ value, files }: DisplayProps) {
  return (
    <Stack gap="xs">
      {filesOf(value).map((v, i) => {
        const link = files?.find((f) => f.file_id === v.file_id);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a file may stand there twice
          <Stack key={i} gap={4}>
            <Row file={v} link={link} />
            {link?.content_type.startsWith('image/') && <Picture key={link.file_id} url={link.url} name={v.name} />}
          </Stack>
        );
      })}
    </Stack>
  );
}
