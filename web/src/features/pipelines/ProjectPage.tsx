import { Button, Group, Menu, Modal, Skeleton, Stack, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconFileImport, IconPlus, IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { ImportForm } from './ImportForm';
import { NewPipelineForm } from './NewPipelineForm';
import { inOrder } from './order';
import { PipelineCard } from './PipelineCard';
import { Crumbs } from './PipelineFrame';
import { pipelinesQuery } from './queries';

const route = getRouteApi('/shell/projects/$projectId');

export default function ProjectPage() {
  const projectId = Number(route.useParams().projectId);
  const { archived = false } = route.useSearch();
  const navigate = route.useNavigate();
  const { project, isAdminOf } = useMe();
  const admin = isAdminOf(projectId);
  const [making, make] = useDisclosure(false);
  const [importing, imports] = useDisclosure(false);
  const list = useQuery(pipelinesQuery(projectId));
  const all = list.data?.pipelines ?? [];
  const shown = inOrder(all).filter((p) => archived || p.status !== 'ARCHIVED');
  const hidden = all.length - shown.length;
  const name = project(projectId)?.name ?? `Project ${projectId}`;
  const newOne = (
    <Button leftSection={<IconPlus size={16} />} onClick={make.open}>
      New pipeline
    </Button>
  );
  return (
    <>
      <Crumbs />
      <Page
        title={name}
        actions={
          admin && (
            <>
              <Button
                component={Link}
                to={`/projects/${projectId}/members`}
                variant="default"
                leftSection={<IconUsers size={16} />}
              >
                People
              </Button>
              <Button.Group>
                {newOne}
                <Menu position="bottom-end">
                  <Menu.Target>
                    <Button px={8} aria-label="More ways to make a pipeline">
                      <IconChevronDown size={16} />
                    </Button>
                  </Menu.Target>
                  <Menu.Dropdown>
                    <Menu.Item leftSection={<IconFileImport size={16} />} onClick={imports.open}>
                      Import YAML or JSON…
                    </Menu.Item>
                  </Menu.Dropdown>
                </Menu>
              </Button.Group>
            </>
          )
        }
      >
        <Modal opened={making} onClose={make.close} title="New pipeline" size="lg">
          <NewPipelineForm projectId={projectId} done={make.close} />
        </Modal>
        <Modal opened={importing} onClose={imports.close} title="Import a pipeline" size="lg">
          <ImportForm projectId={projectId} done={imports.close} />
        </Modal>
        <Stack>
          {list.isPending && [1, 2, 3].map((n) => <Skeleton key={n} h={150} radius="md" />)}
          {list.isError && <ErrorNote error={list.error} retry={() => list.refetch()} doing="load the pipelines" />}
          {list.isSuccess && shown.length === 0 && (
            <EmptyState
              title={hidden > 0 ? 'Everything here is archived' : 'No pipelines yet'}
              action={admin && newOne}
            >
              {admin
                ? 'A pipeline leads each task through its steps: forms that people fill in, and reviews.'
                : 'Nothing was published in this project yet.'}
            </EmptyState>
          )}
          {shown.map((p) => (
            <PipelineCard key={p.id} pipeline={p} admin={admin} />
          ))}
          {admin && (archived || hidden > 0) && (
            <Group>
              <Switch
                label={archived ? 'Archived pipelines are shown' : `Show ${hidden} archived`}
                checked={archived}
                onChange={(e) => navigate({ search: e.currentTarget.checked ? { archived: true } : {}, replace: true })}
              />
            </Group>
          )}
        </Stack>
      </Page>
    </>
  );
}
