-- Work: taking back what was handed in, skipping, and one's own history.

-- Set when the author took it back; the journal has the event. It then answers
-- for nothing any more.
ALTER TABLE submissions ADD COLUMN undone_at timestamptz;

-- A person's history, newest first.
CREATE INDEX submissions_author ON submissions (author, created_at DESC);

-- Nodes that the queue no longer serves to a person: they released them so.
CREATE TABLE skips (
    user_id     bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_id     bigint      NOT NULL,
    node_key    text        NOT NULL,
    org_id      bigint      NOT NULL,
    pipeline_id bigint      NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, task_id, node_key)
);
CREATE INDEX skips_pipeline ON skips (user_id, pipeline_id, created_at);
