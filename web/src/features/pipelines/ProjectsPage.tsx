import { Badge, Button, Card, Group, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Project } from '@/api';
import { type ProjectRole, useMe } from '@/features/session/me';
import { EmptyState } from '@/ui/EmptyState';
import { Page } from '@/ui/Page';
import classes from './cards.module.css';
import { count } from './lifecycle';
import { NewProjectForm } from './NewProjectForm';

const roleNames: Record<ProjectRole, string> = {
  project_admin: 'admin',
  contributor: 'contributor',
  reviewer: 'reviewer',
};

export default function ProjectsPage() {
  const { orgs, projects, isOrgAdmin, isAdminOf, roleIn } = useMe();
  const [making, dialog] = useDisclosure(false);
  // Admins of a project may make others beside it.
  const mine = orgs.filter((o) => isOrgAdmin(o.id) || projects.some((p) => p.org_id === o.id && isAdminOf(p.id)));
  const create = mine.length > 0 && (
    <Button leftSection={<IconPlus size={16} />} onClick={dialog.open}>
      New project
    </Button>
  );
  return (
    <Page title="Projects" actions={create}>
      <Modal opened={making} onClose={dialog.close} title="New project">
        <NewProjectForm orgs={mine} done={dialog.close} />
      </Modal>
      <Stack gap="xl">
        {projects.length === 0 && (
          <EmptyState title="No projects yet" action={create}>
            {mine.length > 0
              ? 'A project holds pipelines and the people who work in them.'
              : 'You are in no project yet. An admin of your organization can add you to one.'}
          </EmptyState>
        )}
        {orgs.map((org) => {
          const here = projects.filter((p) => p.org_id === org.id);
          if (here.length === 0) return null;
          return (
            <section key={org.id} aria-labelledby={`org-${org.id}`}>
              <Title order={2} size="h4" mb="sm" id={`org-${org.id}`}>
                {org.name}
              </Title>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
                {here.map((p) => (
                  <ProjectCard key={p.id} project={p} role={roleIn(p.id)} />
                ))}
              </SimpleGrid>
            </section>
          );
        })}
      </Stack>
    </Page>
  );
}

function ProjectCard({ project, role }: { project: Project; role: ProjectRole | undefined }) {
  const active = project.pipelines.filter((p) => p.status === 'ACTIVE').length;
  return (
    <Card withBorder component={Link} to={`/projects/${project.id}`} className={classes.card} padding="md">
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600} className={classes.name}>
          {project.name}
        </Text>
        {role && (
          <Badge variant="default" tt="none" style={{ flexShrink: 0 }}>
            {roleNames[role]}
          </Badge>
        )}
      </Group>
      <Text size="sm" c="dimmed" mt={4}>
        {project.pipelines.length === 0
          ? 'No pipelines yet'
          : `${count(project.pipelines.length, 'pipeline')}, ${active === 0 ? 'none' : active} active`}
      </Text>
    </Card>
  );
}
