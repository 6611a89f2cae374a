import { Badge, Button, Code, CopyButton, Group, Paper, Progress, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { asAPIError, body, cancelUpload, type Upload } from '@/api';
import { Ago } from '@/ui/Ago';
import { confirm } from '@/ui/ConfirmDialog';
import { StatusBadge } from '@/ui/StatusBadge';
import { share, size, stage } from './progress';
import { isOver } from './queries';
import { UploadRows } from './UploadRows';

interface Props {
  pipelineId: number;
  upload: Upload;
  open: boolean;
  toggle: () => void;
}

/** One ZIP: how far it is, what came of it, and how to stop it. */
export function UploadCard({ pipelineId, upload: u, open, toggle }: Props) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: async () => {
      const made = u.success_count;
      const yes = await confirm({
        title: 'Cancel this upload?',
        body:
          u.status === 'pending'
            ? 'Nothing was read yet. The archive, if it arrives, is thrown away.'
            : `${made.toLocaleString('en')} ${made === 1 ? 'task was' : 'tasks were'} created so far and will stay. ${
                u.rows_total > u.rows_done
                  ? `${(u.rows_total - u.rows_done).toLocaleString('en')} rows will not become tasks.`
                  : ''
              }`,
        confirmLabel: 'Cancel the upload',
        cancelLabel: 'Let it go on',
        danger: true,
      });
      return yes ? body(cancelUpload({ path: { pipeline_id: pipelineId, upload_id: u.upload_id } })) : null;
    },
    onError: (err) =>
      notifications.show({ title: 'Could not cancel the upload', message: asAPIError(err).message, color: 'red' }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['listUploads', pipelineId] });
      void client.invalidateQueries({ queryKey: ['getUploadDetail', pipelineId, u.upload_id] });
    },
  });
  const done = share(u);
  // The end: ids begin with their time, so those of one day look alike.
  const short = u.upload_id.slice(-8);
  return (
    <Paper withBorder p="sm" component="article" aria-label={`Upload ${short}`}>
      <Group justify="space-between" align="flex-start">
        <div style={{ flex: '1 1 280px', minWidth: 0 }}>
          <Group gap="xs">
            <StatusBadge status={u.status} />
            <Text size="sm">
              <Ago at={u.created_at} />
            </Text>
            {u.archive_bytes > 0 && (
              <Text size="sm" c="dimmed">
                {size(u.archive_bytes)}
              </Text>
            )}
            <CopyButton value={u.upload_id}>
              {({ copied, copy }) => (
                <Button size="compact-xs" variant="subtle" onClick={copy} aria-label={`Copy the id of upload ${short}`}>
                  <Code>…{short}</Code>
                  <Text span size="xs" ml={4}>
                    {copied ? 'copied' : 'copy id'}
                  </Text>
                </Button>
              )}
            </CopyButton>
          </Group>
          <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
            {stage(u)}
          </Text>
          {u.status === 'processing' && (
            <Progress
              mt={6}
              value={done ?? 100}
              animated={done === null || u.cancel_requested}
              aria-label={`Progress of upload ${short}`}
            />
          )}
          <Group gap="xs" mt={6}>
            <Badge variant="dot" color="teal" tt="none">
              {u.success_count.toLocaleString('en')} created
            </Badge>
            {u.error_count > 0 && (
              <Badge variant="dot" color="red" tt="none">
                {u.error_count.toLocaleString('en')} refused
              </Badge>
            )}
            {u.skipped_count > 0 && (
              <Badge variant="default" tt="none">
                {u.skipped_count.toLocaleString('en')} {u.skipped_count === 1 ? 'file' : 'files'} not used
              </Badge>
            )}
          </Group>
        </div>
        <Group gap="xs">
          {!isOver(u) && (
            <Button
              size="xs"
              variant="default"
              c="red"
              loading={cancel.isPending}
              disabled={u.cancel_requested}
              onClick={() => cancel.mutate()}
            >
              Cancel…
            </Button>
          )}
          <Button size="xs" variant="default" onClick={toggle} aria-expanded={open}>
            {open ? 'Hide rows' : 'Show rows'}
          </Button>
        </Group>
      </Group>
      {open && <UploadRows pipelineId={pipelineId} uploadId={u.upload_id} />}
    </Paper>
  );
}
