import { Anchor, Badge, Button, Grid, Group, Menu, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconChevronDown, IconPrinter } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Crumbs } from '@/features/pipelines/PipelineFrame';
import { useMe } from '@/features/session/me';
import { ErrorNote } from '@/ui/ErrorNote';
import { Page } from '@/ui/Page';
import { StatusBadge } from '@/ui/StatusBadge';
import { Answers } from './Answers';
import { taskActions } from './actions';
import { NodeList } from './NodeList';
import { namesIn } from './names';
import './print.css';
import { taskQuery } from './queries';
import { Rounds } from './Rounds';
import { TaskFacts } from './TaskFacts';
import { Timeline } from './Timeline';
import { useAction } from './useAction';

const route = getRouteApi('/shell/tasks/$taskId');

export default function TaskPage() {
  const taskId = Number(route.useParams().taskId);
  const task = useQuery(taskQuery(taskId));
  const { project } = useMe();
  const { ask, dialog } = useAction();
  const t = task.data;
  return (
    <>
      <Crumbs project={project(t?.project_id)}>
        {t && (
          <Anchor component={Link} to={`/pipelines/${t.pipeline_id}/tasks`} size="sm">
            {t.pipeline_name}
          </Anchor>
        )}
      </Crumbs>
      <Page
        title={`Task ${taskId}`}
        aside={
          t && (
            <Group gap={6}>
              <StatusBadge status={t.status} />
              {t.held && (
                <Badge variant="outline" color="yellow" tt="none" c="var(--mantine-color-text)">
                  on hold
                </Badge>
              )}
            </Group>
          )
        }
        actions={
          t && (
            <Group gap="xs" data-noprint>
              <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
                Print
              </Button>
              {taskActions(t).length > 0 && (
                <Menu position="bottom-end">
                  <Menu.Target>
                    <Button variant="default" rightSection={<IconChevronDown size={14} />}>
                      Actions
                    </Button>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {taskActions(t).map((a) => (
                      <Menu.Item
                        key={a.id}
                        color={a.danger ? 'red' : undefined}
                        onClick={() =>
                          ask({ action: a, place: { pipelineId: t.pipeline_id, taskId }, what: `task ${taskId}` })
                        }
                      >
                        {a.label}…
                      </Menu.Item>
                    ))}
                  </Menu.Dropdown>
                </Menu>
              )}
            </Group>
          )
        }
      >
        {dialog}
        {task.isPending && <Skeleton h={400} radius="md" />}
        {task.isError && !t && <ErrorNote error={task.error} retry={() => task.refetch()} doing="load the task" />}
        {t && (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, md: 8 }}>
              <Stack gap="xl">
                <Section title="Where it stands">
                  <NodeList task={t} ask={ask} />
                </Section>
                <Section title="Fields and answers">
                  <Paper withBorder p="md">
                    <Answers task={t} />
                  </Paper>
                </Section>
                <Section title="Hand-ins and verdicts" aside={`${t.submissions.length}`}>
                  <Rounds task={t} />
                </Section>
              </Stack>
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 4 }}>
              <Stack gap="xl">
                <Section title="About">
                  <TaskFacts task={t} />
                </Section>
                <Section title="Timeline">
                  <Timeline events={t.timeline} names={namesIn(t)} submissions={t.submissions} />
                </Section>
              </Stack>
            </Grid.Col>
          </Grid>
        )}
      </Page>
    </>
  );
}

function Section({ title, aside, children }: { title: string; aside?: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Group gap="xs" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {aside && (
          <Text size="sm" c="dimmed">
            {aside}
          </Text>
        )}
      </Group>
      {children}
    </section>
  );
}
