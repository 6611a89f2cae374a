-- Until when a dispatcher has the row to itself. The binary of before took
-- rows by moving next_attempt_at, which is in the index by which they are
-- found; beside it, a row may be delivered twice, which runs see through.
ALTER TABLE outbox ADD COLUMN leased_until timestamptz;
