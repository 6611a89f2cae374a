import { withNew } from '@/api';

/** What a hand-in says of the draft that its sender saw. */
export interface SeenDraft {
  draft_revision?: number;
}

/** Sends a hand-in with the revision of the draft. */
export function withSeen<T>(revision: number, send: (seen: SeenDraft) => Promise<T>): Promise<T> {
  return withNew<SeenDraft, T>({ draft_revision: revision }, send);
}
