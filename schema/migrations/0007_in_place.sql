-- What changes with every event changes in place: no column of an index is
-- among it, so that an update of a task is one tuple on the same page and nothing
-- in any index. Migration 8 does the same for the outbox, by itself: one that
-- locks both tables can meet a dispatcher, which reads them in the other order.

-- The tasks with events whose consequences are not written yet. It is what the
-- index tasks_lagging was: few rows of a table that is never large, instead of
-- an entry in every index of tasks with each event and each step.
CREATE TABLE task_lag (
    task_id bigint PRIMARY KEY,
    since   timestamptz NOT NULL -- updated_at of the task
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX task_lag_since ON task_lag (since);

-- By triggers, so that it is right also while a binary of before this
-- migration writes.
CREATE FUNCTION task_lags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO task_lag VALUES (NEW.id, NEW.updated_at)
        ON CONFLICT (task_id) DO UPDATE SET since = excluded.since;
    RETURN NULL;
END $$;
CREATE FUNCTION task_lags_no_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM task_lag WHERE task_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_lag AFTER INSERT OR UPDATE OF seq, applied_seq, updated_at ON tasks FOR EACH ROW
    WHEN (NEW.applied_seq < NEW.seq) EXECUTE FUNCTION task_lags();
CREATE TRIGGER tasks_lag_no_more AFTER UPDATE OF seq, applied_seq ON tasks FOR EACH ROW
    WHEN (OLD.applied_seq < OLD.seq AND NEW.applied_seq = NEW.seq) EXECUTE FUNCTION task_lags_no_more();
CREATE TRIGGER tasks_lag_gone AFTER DELETE ON tasks FOR EACH ROW
    WHEN (OLD.applied_seq < OLD.seq) EXECUTE FUNCTION task_lags_no_more();
INSERT INTO task_lag SELECT id, updated_at FROM tasks WHERE applied_seq < seq;

-- The binary of before reads tasks instead until it is replaced: right, and slow.
DROP INDEX tasks_lagging;
