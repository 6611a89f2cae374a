import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { APIError, body, getPipeline } from '@/api';
import { equal } from '@/pipeline/diff';
import { normalize } from '@/pipeline/normalize';
import type { DefinitionProblem } from '@/pipeline/problems';
import { ErrorNote } from '@/ui/ErrorNote';
import { Hotkey } from '@/ui/Hotkey';
import { notify } from '@/ui/notify';
import { Notice } from '../Notice';
import type { Draft } from '../queries';
import { useBuilder } from '../state/context';
import { Checklist } from './Checklist';
import { DiffView, useChanges } from './DiffView';
import { publishSeen } from './publishSeen';

interface Props {
  opened: boolean;
  onClose: () => void;
  draft: Draft;
  /** Saves first; false when the server does not have the draft. */
  flush: () => Promise<boolean>;
  check: { checking: boolean; error: unknown; recheck: () => void };
  onJump: (problem: DefinitionProblem) => void;
}

/** What is in the way of publishing; when nothing is, what changes, a note, and the button. */
export function PublishDialog(props: Props) {
  const { id } = useBuilder();
  // On its way it cannot be called back, and its answer would close what is open by then.
  const busy = useIsMutating({ mutationKey: ['publishPipeline', id] }) > 0;
  return (
    <Modal opened={props.opened} onClose={() => !busy && props.onClose()} title="Publish" size="lg">
      <PublishForm {...props} />
    </Modal>
  );
}

function PublishForm({ onClose, draft, flush, check, onJump }: Props) {
  const { id, doc, problems } = useBuilder();
  const cache = useQueryClient();
  const [note, setNote] = useState('');
  const publish = useMutation({
    mutationKey: ['publishPipeline', id],
    mutationFn: async () => {
      if (!(await flush())) {
        throw new APIError(
          -1,
          'not_saved',
          'The draft could not be saved, so it was not published. The note beside its name says why.',
        );
      }
      // What was checked and shown here is what is published, not what somebody else saved a moment ago.
      const now = await body(getPipeline({ path: { pipeline_id: id } }));
      if (!equal(normalize(now.draft), doc.definition)) {
        throw new APIError(-1, 'changed', 'Somebody else saved this draft just now. Look at it first, then publish.');
      }
      return publishSeen(id, now.revision, note);
    },
    onSuccess: (p) => {
      notify.done(p.status === 'DRAFT' ? 'Published.' : `Version ${p.version} is live: new tasks get it.`);
      onClose();
      void cache.invalidateQueries();
    },
  });
  const first = draft.version === 0;
  const changes = useChanges(first ? null : draft.live, doc.definition);
  const nothing = !first && changes === 0;
  const ready = !check.checking && !nothing && !publish.isPending;
  return (
    <Stack>
      <Checklist {...check} onJump={onJump} />
      {problems.length === 0 && (
        <>
          {first ? (
            <Text size="sm">This is the first version. Tasks can be created once it is published.</Text>
          ) : (
            <Stack gap="xs">
              <Text size="sm">
                New tasks get version {draft.version + 1}. Tasks that exist keep the version that they were created
                with.
              </Text>
              <DiffView
                before={draft.live}
                after={doc.definition}
                none={`The draft is the same as version ${draft.version}.`}
              />
            </Stack>
          )}
          <form
            onSubmit={(e) => {
              e.preventDefault();
              if (ready) publish.mutate();
            }}
          >
            <Stack>
              <Textarea
                data-autofocus
                label="What is new"
                description="For your colleagues, in the list of versions"
                autosize
                minRows={2}
                maxLength={1000}
                value={note}
                onChange={(e) => setNote(e.currentTarget.value)}
                onKeyDown={(e) => {
                  // Held down since the dialog was asked for, it would publish what nobody has seen.
                  if (e.key === 'Enter' && (e.metaKey || e.ctrlKey) && !e.repeat) e.currentTarget.form?.requestSubmit();
                }}
              />
              {publish.error && <ErrorNote error={publish.error} doing="publish" />}
              {draft.status === 'ARCHIVED' && (
                <Notice color="yellow" variant="light">
                  The pipeline is archived. Unarchive it before you publish.
                </Notice>
              )}
              <Group justify="flex-end">
                <Button variant="default" onClick={onClose} disabled={publish.isPending}>
                  Cancel
                </Button>
                <Button
                  type="submit"
                  loading={publish.isPending}
                  disabled={check.checking || nothing}
                  rightSection={<Hotkey keys="mod+Enter" onColor />}
                >
                  {first ? 'Publish' : `Publish version ${draft.version + 1}`}
                </Button>
              </Group>
            </Stack>
          </form>
        </>
      )}
    </Stack>
  );
}
