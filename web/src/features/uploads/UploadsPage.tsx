import { Anchor, Button, Group, Skeleton, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { uploadsQuery } from './queries';
import { UploadCard } from './UploadCard';

const route = getRouteApi('/shell/pipelines/$pipelineId/uploads');

export default function UploadsPage() {
  const pipelineId = Number(route.useParams().pipelineId);
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(uploadsQuery(pipelineId));
  const uploads = list.data?.pages.flatMap((p) => p.uploads) ?? [];
  return (
    <PipelineFrame pipelineId={pipelineId} tab="uploads">
      <Stack gap="sm">
        {list.isPending && [1, 2, 3].map((n) => <Skeleton key={n} h={96} radius="md" />)}
        {list.isError && uploads.length === 0 && (
          <ErrorNote error={list.error} retry={() => list.refetch()} doing="load the uploads" />
        )}
        {list.isSuccess && uploads.length === 0 && (
          <EmptyState
            title="No uploads yet"
            action={
              <Button component="a" href="/api/v1/docs" target="_blank">
                How to upload a ZIP
              </Button>
            }
          >
            A ZIP with rows and files becomes tasks in the background; its progress and its refused rows show here.
          </EmptyState>
        )}
        {uploads.map((u) => (
          <UploadCard
            key={u.upload_id}
            pipelineId={pipelineId}
            upload={u}
            open={u.upload_id === open}
            toggle={() =>
              navigate({
                search: u.upload_id === open ? {} : { open: u.upload_id },
                replace: true,
                resetScroll: false,
              })
            }
          />
        ))}
        {list.hasNextPage && (
          <Group justify="center">
            <Anchor component="button" size="sm" onClick={() => list.fetchNextPage()}>
              {list.isFetchingNextPage ? 'Loading…' : 'Load older uploads'}
            </Anchor>
          </Group>
        )}
      </Stack>
    </PipelineFrame>
  );
}
