import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ReactFlowProvider } from '@xyflow/react';
import { type ReactNode, useEffect, useState } from 'react';
import { PipelineFrame } from '@/features/pipelines/PipelineFrame';
import { useMe } from '@/features/session/me';
import { ago } from '@/lib/time';
import { AdminsOnly } from '@/ui/AdminsOnly';
import { ErrorNote } from '@/ui/ErrorNote';
import { notify } from '@/ui/notify';
import { Builder } from './Builder';
import { type Draft, draftQuery, savedOf } from './queries';
import { dropTaken, recall } from './state/mirror';
import { startOf } from './state/start';

export default function BuilderPage() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId/build' });
  const id = Number(pipelineId);
  const { pipeline, isAdminOf } = useMe();
  const found = pipeline(id);
  const allowed = !found || isAdminOf(found.project.id);
  const draft = useQuery({ ...draftQuery(id), enabled: allowed });
  if (!allowed) return <AdminsOnly title={found?.name ?? 'Builder'} of={found?.project.name ?? 'the project'} />;
  const waiting = (
    <PipelineFrame pipelineId={id} tab="build">
      {draft.isError ? (
        <ErrorNote error={draft.error} retry={() => void draft.refetch()} />
      ) : (
        <Skeleton h="max(520px, calc(100dvh - 258px))" aria-label="Loading" />
      )}
    </PipelineFrame>
  );
  if (!draft.data) return waiting;
  // The last answer stays usable while the server is away: the chip says so.
  return <Opened key={id} polled={draft.data} fresh={draft.isFetchedAfterMount && !draft.isError} waiting={waiting} />;
}

interface OpenedProps {
  polled: Draft;
  /** It was read since the page was opened. */
  fresh: boolean;
  waiting: ReactNode;
}

/** The builder, once it is clear what it begins with. */
function Opened({ polled, fresh, waiting }: OpenedProps) {
  const { me } = useMe();
  const begin = () => startOf(recall(me.id, polled.id), savedOf(polled), fresh);
  const [start, setStart] = useState(begin);
  if (!start && fresh) setStart(begin());
  const { keptAt, taken } = start ?? {};
  useEffect(() => {
    if (!taken) return;
    // The builder below has kept its own by now, unless there was no room for it.
    const own = recall(me.id, polled.id)?.page !== taken.page;
    if (own || !keptAt) dropTaken(me.id, polled.id, taken);
  }, [taken, keptAt, me.id, polled.id]);
  useEffect(() => {
    if (keptAt)
      notify.done(`Changes that were not saved came back: ${ago(new Date(keptAt).toISOString(), Date.now())}.`);
  }, [keptAt]);
  if (!start) return waiting;
  return (
    <ReactFlowProvider>
      <Builder polled={polled} first={start.draft} doc={start.doc} />
    </ReactFlowProvider>
  );
}
