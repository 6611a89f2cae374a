-- What the builder and the task pages need: who saved a draft and where its
-- nodes stand, since when a node is where it is, and counts that are kept
-- instead of counted.

ALTER TABLE pipelines
    ADD COLUMN layout   jsonb NOT NULL DEFAULT '{}', -- node key → [x, y]
    ADD COLUMN saved_by bigint, -- of the draft; null: the command line
    ADD COLUMN saved_at timestamptz NOT NULL DEFAULT now(),
    -- Whether a draft is published is asked for whole lists: by hash, not by
    -- reading both definitions.
    ADD COLUMN draft_hash text GENERATED ALWAYS AS (md5(draft::text)) STORED;
UPDATE pipelines SET saved_at = updated_at;
ALTER TABLE pipeline_versions
    ADD COLUMN hash text GENERATED ALWAYS AS (md5(definition::text)) STORED;

-- Since when a review waits for its verdict: claims come and go meanwhile.
ALTER TABLE task_nodes ADD COLUMN opened_at timestamptz NOT NULL DEFAULT now();
UPDATE task_nodes n SET opened_at = e.created_at FROM task_events e
WHERE n.kind = 'review' AND n.status IN ('available', 'claimed') AND e.task_id = n.task_id AND e.seq = n.last_seq;

-- How many tasks and nodes a pipeline has, of those states whose number grows
-- with the pipeline: the sum of what was folded and of the changes since.
-- Commands only add changes, so that no two of them ever wait for each other;
-- the reconciler folds them. What comes with a creation is counted by it.
CREATE TABLE pipeline_counts (
    pipeline_id bigint NOT NULL,
    version_id  bigint NOT NULL, -- of tasks; 0 for nodes
    what        text   NOT NULL, -- open, finished, failed (tasks); subtask:queued, review:escalated, … (nodes)
    n           bigint NOT NULL,
    PRIMARY KEY (pipeline_id, version_id, what)
);
-- Without an index: it is read whole, and short.
CREATE TABLE count_changes (
    pipeline_id bigint NOT NULL,
    version_id  bigint NOT NULL,
    what        text   NOT NULL,
    n           int    NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- When the counts were last compared with the rows: a program of before this
-- migration creates tasks without counting them.
CREATE TABLE count_checks (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    at       timestamptz NOT NULL
);
INSERT INTO count_checks (at) VALUES (now());

CREATE FUNCTION counted_task(status text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN status IN ('finished', 'failed') THEN status ELSE 'open' END;

-- Free and claimed nodes are one: claims are few and can be counted, and are
-- taken and given back too often to be worth a row each.
CREATE FUNCTION counted_node(status text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN status IN ('available', 'claimed') THEN 'queued' WHEN status IN ('escalated', 'quarantined') THEN status END;

INSERT INTO pipeline_counts
    SELECT pipeline_id, version_id, counted_task(status), count(*) FROM tasks GROUP BY 1, 2, 3
    UNION ALL
    SELECT pipeline_id, 0, kind || ':' || counted_node(status), count(*) FROM task_nodes
    WHERE counted_node(status) IS NOT NULL GROUP BY 1, 2, 3;

CREATE FUNCTION count_moved_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes VALUES
        (NEW.pipeline_id, NEW.version_id, counted_task(OLD.status), -1),
        (NEW.pipeline_id, NEW.version_id, counted_task(NEW.status), 1);
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_counted AFTER UPDATE ON tasks FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND (OLD.status IN ('finished', 'failed') OR NEW.status IN ('finished', 'failed')))
    EXECUTE FUNCTION count_moved_task();

CREATE FUNCTION count_moved_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO count_changes
        SELECT NEW.pipeline_id, 0, NEW.kind || ':' || c.what, c.n
        FROM (VALUES (counted_node(OLD.status), -1), (counted_node(NEW.status), 1)) AS c(what, n) WHERE c.what IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER task_nodes_counted AFTER UPDATE ON task_nodes FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NOT (OLD.status IN ('available', 'claimed') AND NEW.status IN ('available', 'claimed')))
    EXECUTE FUNCTION count_moved_node();

-- Lists that are narrowed by what few tasks have.
CREATE INDEX tasks_held ON tasks (pipeline_id, (-id)) WHERE held;
CREATE INDEX tasks_priority ON tasks (pipeline_id, priority, (-id)) WHERE priority <> 0;

-- The reviews that wait, oldest first, and the work that waits for one by who
-- did it.
CREATE INDEX task_nodes_reviews ON task_nodes (pipeline_id, opened_at, task_id, key)
    WHERE kind = 'review' AND status IN ('available', 'claimed');
CREATE INDEX task_nodes_reviewed ON task_nodes (pipeline_id, actor, task_id, key)
    WHERE kind = 'subtask' AND status = 'submitted';

-- The id that divides a pipeline's tasks at a time: every task with a lower id
-- was created before it. Ids and creation times grow together but for how long
-- a creation takes, which the slack covers.
CREATE FUNCTION task_id_at(pipeline bigint, at timestamptz, slack interval) RETURNS bigint
    LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint := 0; high bigint; middle bigint; found bigint; made timestamptz;
BEGIN
    SELECT id INTO high FROM tasks WHERE pipeline_id = pipeline ORDER BY id DESC LIMIT 1;
    IF high IS NULL THEN RETURN 0; END IF;
    high := high + 1;
    -- Every task below low was created before, none from high on was.
    WHILE low < high LOOP
        middle := low + (high - low) / 2;
        SELECT id, created_at INTO found, made FROM tasks
            WHERE pipeline_id = pipeline AND id >= middle ORDER BY id LIMIT 1;
        IF found IS NULL OR found >= high OR made >= at + slack THEN high := middle; ELSE low := found + 1; END IF;
    END LOOP;
    RETURN low;
END $$;
