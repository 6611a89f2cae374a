-- What is past its time limit by pipeline, as what is past its lease already is: the many
-- of one shall not stand before the few of another. And the versions whose tasks have no
-- run before their first claim, which nobody else looks after. The binary of before finds
-- what is past its limit by task_nodes_sla, which a later migration drops.
--
-- Beside a product at work, as migration 9.
---- tern: disable-tx ----
SET lock_timeout = 0;
-- What a try that was cut off has left.
DROP INDEX CONCURRENTLY IF EXISTS task_nodes_overdue;
CREATE INDEX CONCURRENTLY task_nodes_overdue ON task_nodes (pipeline_id, sla_at)
    WHERE sla_at IS NOT NULL AND status IN ('available', 'claimed');
DROP INDEX CONCURRENTLY IF EXISTS pipeline_versions_on_claim;
CREATE INDEX CONCURRENTLY pipeline_versions_on_claim ON pipeline_versions (pipeline_id, id) WHERE definition ->> 'runs' = 'on_first_claim';
