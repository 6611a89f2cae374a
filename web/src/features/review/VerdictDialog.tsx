import { Button, Group, List, Modal, Stack, Text, Textarea } from '@mantine/core';
import type { Field, Reviewed } from '@/api';
import { useHotkeys } from '@/lib/hotkeys';
import { ErrorNote } from '@/ui/ErrorNote';
import { Hotkey } from '@/ui/Hotkey';
import { missing, type Notes, remarks, returned } from './notes';

interface Props {
  verdict: 'reject' | 'escalate';
  notes: Notes;
  setOverall: (text: string) => void;
  reviewed: readonly Reviewed[];
  fields: ReadonlyMap<string, Field>;
  /** Corrections that a rejection drops. */
  dropped: number;
  busy: boolean;
  error: unknown;
  give: () => void;
  close: () => void;
}

/** Asks why, and shows what the contributor will read. */
export function VerdictDialog(p: Props) {
  const reject = p.verdict === 'reject';
  const lacks = missing(p.verdict, p.notes, p.reviewed);
  const about = remarks(p.notes, p.reviewed).filter((r) => r.field);
  const back = returned(p.notes, p.reviewed);
  const title = (node: string) => p.reviewed.find((r) => r.node === node)?.title || node;
  const give = () => {
    if (!lacks && !p.busy) p.give();
  };
  useHotkeys([
    {
      keys: 'mod+Enter',
      label: reject ? 'Reject' : 'Escalate',
      group: 'Review',
      run: give,
      allowInInput: true,
      inDialog: true,
    },
  ]);
  return (
    <Modal
      opened
      onClose={p.close}
      title={reject ? 'Reject and send back' : 'Escalate to the project’s admins'}
      size="lg"
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          give();
        }}
      >
        <Stack>
          <Textarea
            label={reject ? 'Reason' : 'What should an admin look at?'}
            description={reject ? 'The contributor reads it together with your comments at the fields.' : undefined}
            autosize
            minRows={3}
            maxRows={12}
            maxLength={4000}
            // What is typed while it is on its way would neither be sent nor kept.
            disabled={p.busy}
            value={p.notes.overall}
            onChange={(e) => p.setOverall(e.currentTarget.value)}
            data-autofocus
          />
          {about.length > 0 && (
            <div>
              <Text size="sm" fw={600}>
                Said at the fields
              </Text>
              <List size="sm">
                {about.map((r) => (
                  <List.Item key={r.field}>
                    {p.fields.get(r.field ?? '')?.title || r.field}
                    {r.verdict && `: ${r.verdict}`}
                    {r.text && ` – ${r.text}`}
                  </List.Item>
                ))}
              </List>
            </div>
          )}
          {reject && p.reviewed.length > 1 && (
            <Text size="sm" c="dimmed">
              {back.length > 0 && back.length < p.reviewed.length
                ? `Goes back: ${back.map(title).join(', ')}. The rest stays as it is.`
                : `Everything under review goes back: ${p.reviewed.map((r) => title(r.node)).join(', ')}.`}
            </Text>
          )}
          {p.dropped > 0 && (
            <Text size="sm" c="dimmed">
              Your {p.dropped === 1 ? 'correction is' : `${p.dropped} corrections are`} not sent: corrections go with an
              acceptance only.
            </Text>
          )}
          {lacks && (
            <Text size="sm" c="dimmed" role="status">
              {lacks}
            </Text>
          )}
          {p.error !== null && p.error !== undefined && (
            <ErrorNote error={p.error} doing={reject ? 'reject' : 'escalate'} />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={p.close}>
              Back
            </Button>
            <Button
              type="submit"
              color={reject ? 'red' : 'orange'}
              disabled={Boolean(lacks)}
              loading={p.busy}
              rightSection={<Hotkey keys="mod+Enter" onColor={!lacks} />}
            >
              {reject ? 'Reject' : 'Escalate'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
