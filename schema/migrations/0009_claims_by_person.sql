-- Who holds what. Everybody who works asks every few seconds how much they hold;
-- without this index, all that is claimed in the pipeline is read each time.
--
-- Beside a product at work: an index that is made in a transaction keeps everybody
-- from claiming until all nodes are read, seconds for each ten million. This one
-- waits for transactions that are open, in nobody's way, so it may wait for as long
-- as they take.
---- tern: disable-tx ----
SET lock_timeout = 0;
-- What a try that was cut off has left.
DROP INDEX CONCURRENTLY IF EXISTS task_nodes_claimed;
CREATE INDEX CONCURRENTLY task_nodes_claimed ON task_nodes (claimed_by) WHERE status = 'claimed';
