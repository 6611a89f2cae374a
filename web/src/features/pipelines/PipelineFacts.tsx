import { Anchor, Badge, Code, CopyButton, Group, Paper, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PipelineDetail } from '@/api';
import type { Definition } from '@/pipeline/definition';
import { Ago } from '@/ui/Ago';
import { count } from './lifecycle';
import { pipelinesQuery } from './queries';

/** Ids, versions and who changed what last. */
export function PipelineFacts({ pipeline: p }: { pipeline: PipelineDetail }) {
  const def = (p.live ?? p.draft) as Definition | null;
  const steps = (def?.nodes ?? []).filter((n) => n.kind === 'subtask' || n.kind === 'review');
  const reviews = steps.filter((n) => n.kind === 'review').length;
  const list = useQuery(pipelinesQuery(p.project_id));
  const changed = p.version > 0 && list.data?.pipelines.some((q) => q.id === p.id && q.has_unpublished);
  return (
    <Paper withBorder p="md" component="section" aria-label="About this pipeline">
      <Group gap="xl">
        <Fact label="Id">
          <CopyButton value={String(p.id)}>
            {({ copied, copy }) => (
              <UnstyledButton onClick={copy} aria-label={copied ? 'Copied' : `Copy the id ${p.id}`}>
                <Code>{p.id}</Code>
                <Text span size="xs" c="dimmed" ml={6}>
                  {copied ? 'copied' : 'copy'}
                </Text>
              </UnstyledButton>
            )}
          </CopyButton>
        </Fact>
        <Fact label="Live version">
          {p.version > 0 ? (
            <Anchor component={Link} to={`/pipelines/${p.id}/versions`} size="sm">
              Version {p.version}
            </Anchor>
          ) : (
            'none'
          )}
        </Fact>
        <Fact label="Steps">
          {count(steps.length - reviews, 'form')}, {count(reviews, 'review')}
        </Fact>
        <Fact label="Draft saved">
          <Ago at={p.saved_at ?? p.updated_at} />
          {p.saved_by && ` by ${p.saved_by.name}`}
        </Fact>
        {changed && (
          <Anchor component={Link} to={`/pipelines/${p.id}/build`} underline="never">
            <Badge variant="outline" color="yellow" tt="none" c="var(--mantine-color-text)">
              draft differs from the live version
            </Badge>
          </Anchor>
        )}
      </Group>
    </Paper>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}
