import { Alert, Box, Button, Checkbox, Drawer, Flex, Group, Menu, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconColumns3 } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { count } from '@/features/pipelines/lifecycle';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { countsQuery } from '@/features/pipelines/queries';
import { useHotkeys } from '@/lib/hotkeys';
import { EmptyState } from '@/ui/EmptyState';
import { ErrorNote } from '@/ui/ErrorNote';
import { BulkBar } from './BulkBar';
import { columns } from './columns';
import { FilterBar } from './FilterBar';
import { type Filters, hasFilters } from './filters';
import { QuickView } from './QuickView';
import { tasksQuery } from './queries';
import { SavedViews } from './SavedViews';
import { TaskTable } from './TaskTable';
import { useNames } from './useNames';
import { useSelection } from './useSelection';

const route = getRouteApi('/shell/pipelines/$pipelineId/tasks');
const hideable = columns.flatMap((c) =>
  c.enableHiding === false || !c.meta ? [] : [[columnId(c), c.meta.label] as const],
);

function columnId(c: (typeof columns)[number]): string {
  return c.id ?? ('accessorKey' in c ? String(c.accessorKey) : '');
}

export default function TasksPage() {
  const pipelineId = Number(route.useParams().pipelineId);
  const { open, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const names = useNames(pipelineId);
  const counts = useQuery(countsQuery(pipelineId));
  const list = useInfiniteQuery(tasksQuery(pipelineId, filters));
  const tasks = useMemo(() => list.data?.pages.flatMap((p) => p.tasks) ?? [], [list.data]);
  const asked = list.data?.pages[0]?.asked;
  const { selected, ids, select } = useSelection(pipelineId, filters);
  const selectOnly = (these: number[]) => select(Object.fromEntries(these.map((id) => [id, true])));
  const [visible, setVisible] = useState<Record<string, boolean>>({ version: false });
  const wide = useMediaQuery('(min-width: 75em)', true);

  const setFilters = (next: Filters) => void navigate({ search: { ...next, open }, replace: true });
  const setOpen = useCallback(
    (id: number | undefined) =>
      void navigate({ search: (s) => ({ ...s, open: id }), replace: true, resetScroll: false }),
    [navigate],
  );
  const step = (by: number) => {
    const at = tasks.findIndex((t) => t.id === open);
    const next = tasks[at + by];
    if (at < 0 || !next) return false;
    setOpen(next.id);
    return true;
  };
  useHotkeys([
    { keys: 'shift+ArrowDown', label: 'Show the next task', group: 'Tasks', run: () => step(1), repeat: true },
    { keys: 'shift+ArrowUp', label: 'Show the previous task', group: 'Tasks', run: () => step(-1), repeat: true },
    {
      keys: 'Escape',
      label: 'Close the side panel',
      group: 'Tasks',
      run: () => (open === undefined ? false : setOpen(undefined)),
    },
  ]);
  const more = list.hasNextPage && !list.isFetchNextPageError ? list.fetchNextPage : undefined;
  const total = totalOf(filters, counts.data);
  return (
    <PipelineFrame pipelineId={pipelineId} tab="tasks">
      <Stack gap="sm">
        <FilterBar
          filters={filters}
          onChange={setFilters}
          names={names}
          aside={
            <Group gap="xs">
              <SavedViews pipelineId={pipelineId} filters={filters} onChoose={setFilters} />
              <Menu closeOnItemClick={false} position="bottom-end">
                <Menu.Target>
                  <Button variant="default" leftSection={<IconColumns3 size={16} />}>
                    Columns
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  {hideable.map(([id, label]) => (
                    <Menu.Item
                      key={id}
                      role="menuitemcheckbox"
                      aria-checked={visible[id] !== false}
                      onClick={() => setVisible((v) => ({ ...v, [id]: v[id] === false }))}
                      leftSection={<Checkbox.Indicator size="xs" checked={visible[id] !== false} />}
                    >
                      {label}
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
            </Group>
          }
        />
        {asked && ids.length > 0 && (
          <BulkBar
            pipelineId={pipelineId}
            asked={asked}
            tasks={tasks}
            ids={ids}
            moreMatch={list.hasNextPage || ids.length < tasks.length}
            onSelect={selectOnly}
            onDone={(left) => {
              selectOnly(left);
              void client.invalidateQueries({ queryKey: ['listPipelineTasks', pipelineId] });
            }}
          />
        )}
        {list.isError && tasks.length === 0 && (
          <ErrorNote error={list.error} retry={() => list.refetch()} doing="load the tasks" />
        )}
        {list.isError && tasks.length > 0 && (
          <Alert color="yellow" variant="light" role="status">
            <Group justify="space-between">
              <Text size="sm">This list could not be brought up to date.</Text>
              <Button size="compact-sm" variant="default" onClick={() => list.refetch()}>
                Try again
              </Button>
            </Group>
          </Alert>
        )}
        {list.isPending && <Skeleton h={400} radius="md" />}
        {list.isSuccess && tasks.length === 0 && !list.hasNextPage && (
          <Nothing pipelineId={pipelineId} filtered={hasFilters(filters)} clear={() => setFilters({})} />
        )}
        {list.data && (tasks.length > 0 || list.hasNextPage) && (
          <Flex gap="md" align="flex-start">
            <Box flex={1} miw={0}>
              <TaskTable
                tasks={tasks}
                selected={selected}
                onSelect={select}
                visible={visible}
                open={open}
                onOpen={setOpen}
                more={more}
                loadingMore={list.isFetchingNextPage}
              />
              <Text size="xs" c="dimmed" mt={6} role="status">
                {count(tasks.length, 'task')} loaded
                {total !== undefined && ` of ${total.toLocaleString('en')}`}
                {list.hasNextPage ? '; more come as you scroll' : ''}
              </Text>
            </Box>
            {open !== undefined && wide && (
              <Box component="aside" aria-label={`Task ${open}`} w={380} style={{ flexShrink: 0 }}>
                <QuickView key={open} taskId={open} close={() => setOpen(undefined)} />
              </Box>
            )}
          </Flex>
        )}
        {!wide && open !== undefined && (
          <Drawer
            opened
            onClose={() => setOpen(undefined)}
            position="right"
            size="md"
            withCloseButton={false}
            attributes={{ content: { 'aria-label': `Task ${open}` } }}
          >
            <QuickView key={open} taskId={open} close={() => setOpen(undefined)} tall />
          </Drawer>
        )}
      </Stack>
    </PipelineFrame>
  );
}

/** How many there are in all, where that is known: without filters, or of a final status. */
function totalOf(f: Filters, c: { total: number; finished: number; failed: number } | undefined): number | undefined {
  if (!c) return undefined;
  if (!hasFilters(f)) return c.total;
  const alone = Object.values(f).filter((v) => v !== undefined).length === 1;
  if (alone && f.status === 'finished') return c.finished;
  if (alone && f.status === 'failed') return c.failed;
  return undefined;
}

function Nothing({ pipelineId, filtered, clear }: { pipelineId: number; filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <EmptyState title="No task matches" action={<Button onClick={clear}>Clear the filters</Button>}>
        There are tasks only outside of these filters, or none at all.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No tasks yet"
      action={
        <Button component={Link} to={`/pipelines/${pipelineId}`}>
          How to create tasks
        </Button>
      }
    >
      Tasks come in over the External API or from a ZIP upload.
    </EmptyState>
  );
}
