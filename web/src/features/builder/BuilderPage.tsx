import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ReactFlowProvider } from '@xyflow/react';
import { useState } from 'react';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { useMe } from '@/features/session/me';
import { ago } from '@/lib/time';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { ErrorNote } from '@/ui/ErrorNote';
import { notify } from '@/ui/notify';
import { Builder } from './Builder';
import { type Draft, draftQuery, savedOf } from './queries';
import { recall } from './state/mirror';
import { startOf } from './state/start';

export default function BuilderPage() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId/build' });
  const id = Number(pipelineId);
  const { pipeline, isAdminOf } = useMe();
  const found = pipeline(id);
  const allowed = !found || isAdminOf(found.project.id);
  const draft = useQuery({ ...draftQuery(id), enabled: allowed });
  if (!allowed) return <AdminsOnly title={found?.name ?? 'Builder'} of={found?.project.name ?? 'the project'} />;
  // The last answer stays usable while the server is away: the chip says so.
  if (draft.data) return <Opened key={id} polled={draft.data} />;
  return (
    <PipelineFrame pipelineId={id} tab="build">
      {draft.isError ? (
        <ErrorNote error={draft.error} retry={() => void draft.refetch()} />
      ) : (
        <Skeleton h="max(520px, calc(100dvh - 258px))" aria-label="Loading" />
      )}
    </PipelineFrame>
  );
}

/** Begins with what this browser kept and the server does not have, else with the server's draft. */
function Opened({ polled }: { polled: Draft }) {
  const { me } = useMe();
  const [from] = useState(() => {
    const start = startOf(recall(me.id, polled.id), savedOf(polled));
    const { keptAt } = start;
    if (keptAt !== null) {
      queueMicrotask(() =>
        notify.done(`Changes that were not saved came back: ${ago(new Date(keptAt).toISOString(), Date.now())}.`),
      );
    }
    return start;
  });
  return (
    <ReactFlowProvider>
      <Builder polled={polled} first={from.draft} doc={from.doc} />
    </ReactFlowProvider>
  );
}
