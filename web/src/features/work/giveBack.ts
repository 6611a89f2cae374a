import { body, releaseClaim, type Work } from '@/api';
import { atMost } from '@/lib/atMost';
import type { Draft } from './draft/useDraft';

/** How a claim is given back. */
export interface Giving {
  /** For those who run the pipeline; may be empty. */
  reason: string;
  /** The person is not served it again. */
  skip: boolean;
}

/** What the draft's last save may take, in milliseconds. Longer, and what was written stays in this browser. */
const saveMost = 10_000;

/** Saves what is written and gives the claim back: one step, so that nothing is done to it in between. */
export async function giveBack(work: Work, draft: Pick<Draft, 'flush'>, { reason, skip }: Giving): Promise<void> {
  await atMost(saveMost, draft.flush());
  const query = { ...(reason && { reason }), ...(skip && { skip }) };
  await body(releaseClaim({ path: { claim_id: work.claim_id }, query }));
}
