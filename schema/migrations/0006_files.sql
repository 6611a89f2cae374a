-- Files that people upload for a field of a task. What the browser puts at
-- upload_key may change until its address expires; on completion it is copied
-- to object_key, looked at on the way, and that is the file from then on.
CREATE TABLE task_files (
    id             uuid PRIMARY KEY,
    org_id         bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    task_id        bigint      NOT NULL,
    node_key       text        NOT NULL, -- whose claim it was uploaded under
    field          text        NOT NULL,
    user_id        bigint      NOT NULL REFERENCES users (id),
    upload_key     text        NOT NULL,
    name           text        NOT NULL,
    size           bigint      NOT NULL,
    announced_type text        NOT NULL, -- as the browser sends it
    object_key     text,
    sha256         text, -- 64 hexadecimal digits
    content_type   text, -- by its bytes, not by its name
    completed_at   timestamptz,
    submitted      boolean     NOT NULL DEFAULT false, -- a submission names it: kept for good
    swept          boolean     NOT NULL DEFAULT false, -- nothing is at upload_key any more
    created_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT task_files_size CHECK (size > 0),
    CONSTRAINT task_files_complete CHECK (completed_at IS NULL OR
        object_key IS NOT NULL AND sha256 IS NOT NULL AND content_type IS NOT NULL)
);
CREATE INDEX task_files_task ON task_files (task_id, node_key, user_id);
CREATE INDEX task_files_unswept ON task_files (created_at) WHERE NOT swept;
CREATE INDEX task_files_unsubmitted ON task_files (created_at) WHERE NOT submitted;
