import { body, publishPipeline, withNew } from '@/api';

/** Publishes the draft as it was looked at: not one that somebody saved since. */
export function publishSeen(id: number, revision: number, note: string) {
  return withNew({ revision }, (seen) =>
    body(publishPipeline({ path: { pipeline_id: id }, body: { note: note.trim() || undefined, ...seen } })),
  );
}
