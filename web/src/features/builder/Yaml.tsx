import { Alert, Anchor, Button, Group, List, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useIsMutating, useMutation, useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { APIError, asAPIError, body, exportPipeline, parseDefinition } from '@/api';
import { chunk } from '@/lib/chunk';
import type { Definition } from '@/pipeline/definition';
import { normalize } from '@/pipeline/normalize';
import { confirm } from '@/ui/ConfirmDialog';
import { ErrorNote } from '@/ui/ErrorNote';
import { useBuilder } from './state/context';

const YamlEditor = lazy(chunk(() => import('./YamlEditor')));

interface Props {
  opened: boolean;
  onClose: () => void;
  flush: () => Promise<boolean>;
  onApply: (d: Definition) => void;
}

const question = {
  title: 'Close without applying?',
  body: 'What you changed in the document is lost. The draft stays as it is.',
  confirmLabel: 'Discard the changes',
  cancelLabel: 'Go on editing',
  danger: true,
};

/** The definition as the document that `taskloom apply` takes. */
export function YamlDialog({ opened, onClose, flush, onApply }: Props) {
  // Nothing else has what is written here: neither the draft nor this browser's copy of it.
  const [changed, setChanged] = useState(false);
  const { id } = useBuilder();
  // On its way it cannot be called back: its answer would replace the draft, and close what is open by then.
  const busy = useIsMutating({ mutationKey: ['applyDocument', id] }) > 0;
  const end = () => {
    setChanged(false);
    onClose();
  };
  useBlocker({
    shouldBlockFn: async () => busy || !(await confirm(question)),
    enableBeforeUnload: true,
    disabled: !opened || !changed,
  });
  const close = async () => {
    if (!busy && (!changed || (await confirm(question)))) end();
  };
  return (
    <Modal
      opened={opened}
      onClose={() => void close()}
      // Escape closes the editor's search, too, and a click beside the dialog is soon done.
      closeOnEscape={!changed}
      closeOnClickOutside={!changed}
      title="Edit as YAML"
      size="xl"
    >
      <YamlForm onClose={() => void close()} onApplied={end} flush={flush} onApply={onApply} onChanged={setChanged} />
    </Modal>
  );
}

interface FormProps extends Omit<Props, 'opened'> {
  onApplied: () => void;
  /** Whether the document is another than the draft's. */
  onChanged: (changed: boolean) => void;
}

function YamlForm({ onClose, onApplied, flush, onApply, onChanged }: FormProps) {
  const { id, projectId } = useBuilder();
  const [text, setText] = useState<string | null>(null);
  const [line, setLine] = useState<{ line: number } | null>(null);
  const source = useQuery({
    queryKey: ['exportPipeline', id, 'draft'],
    // What is on the screen, not what was saved some edits ago.
    queryFn: async () => {
      if (!(await flush())) {
        throw new APIError(-1, 'not_saved', 'The draft could not be saved. The note beside its name says why.');
      }
      return body(exportPipeline({ path: { pipeline_id: id } }));
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const apply = useMutation({
    mutationKey: ['applyDocument', id],
    mutationFn: (document: string) => body(parseDefinition({ path: { project_id: projectId }, body: { document } })),
    onSuccess: ({ definition }) => {
      onApply(normalize(definition));
      onApplied();
    },
  });
  // The same ones until the next answer: the editor goes to the first of new ones, away from what is being typed.
  const faults = useMemo(() => faultsOf(apply.error), [apply.error]);
  if (source.isPending) return <Skeleton h={360} />;
  // Once it is here, what is edited needs no other: it may fail to come anew, as after a lost connection.
  if (!source.data)
    return <ErrorNote error={source.error} doing="write the draft as YAML" retry={() => void source.refetch()} />;
  const { document } = source.data;
  const current = text ?? document;
  const edit = (now: string) => {
    setText(now);
    onChanged(now !== document);
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        The same document as “definition” in a file for <code>taskloom apply</code>. Applying it is one step that you
        can undo.
      </Text>
      <Suspense fallback={<Skeleton h={360} />}>
        <YamlEditor value={current} onChange={edit} readOnly={apply.isPending} faults={faults} goTo={line} />
      </Suspense>
      {apply.error && faults.length === 0 && <ErrorNote error={apply.error} doing="read the document" />}
      {faults.length > 0 && (
        <Alert color="red" variant="light" role="alert" title="The document cannot be read">
          <List size="sm">
            {faults.map((f) => (
              <List.Item key={`${f.line} ${f.message}`}>
                {f.line > 0 ? (
                  <Anchor
                    component="button"
                    type="button"
                    size="sm"
                    ta="start"
                    onClick={() => setLine({ line: f.line })}
                  >
                    {f.message}
                  </Anchor>
                ) : (
                  f.message
                )}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} disabled={apply.isPending}>
          Cancel
        </Button>
        <Button loading={apply.isPending} disabled={current === document} onClick={() => apply.mutate(current)}>
          Apply to the draft
        </Button>
      </Group>
    </Stack>
  );
}

export interface Fault {
  /** 1-based; 0 when the message names none. */
  line: number;
  message: string;
}

function faultsOf(err: unknown): Fault[] {
  if (!err) return [];
  const { message, problems } = asAPIError(err);
  return linesOf([message, ...problems.map((p) => p.message)]);
}

/** The lines that the server's messages name. */
export function linesOf(messages: readonly string[]): Fault[] {
  const found = messages.map((message) => ({ line: Number(/\bline (\d+)/.exec(message)?.[1] ?? 0), message }));
  return found.some((f) => f.line > 0) ? found : [];
}
