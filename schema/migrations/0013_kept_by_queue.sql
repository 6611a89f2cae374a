-- The nodes of a queue that are kept for somebody, by when that is over. Who asks for
-- work, or how much there is, wants those whose time is over: nearly always none. Where
-- Postgres counted long ago, nearly all of what is kept looks as if it were over, and by
-- the indexes of before it read all that is kept, each time.
--
-- Beside a product at work, as migration 9.
---- tern: disable-tx ----
SET lock_timeout = 0;
-- What a try that was cut off has left.
DROP INDEX CONCURRENTLY IF EXISTS task_nodes_kept_queue;
CREATE INDEX CONCURRENTLY task_nodes_kept_queue ON task_nodes (pipeline_id, kind, reserved_until)
    WHERE status = 'available' AND reserved_for IS NOT NULL;
