-- ZIP ingestion (uploads, their rows, the files that came of them), and the
-- connection by which a dead worker is known at once.

CREATE TABLE uploads (
    id              uuid PRIMARY KEY, -- version 7: in the order of time
    org_id          bigint      NOT NULL,
    pipeline_id     bigint      NOT NULL,
    created_by      bigint      NOT NULL, -- the key's creator; the journal of the tasks names them
    status          text        NOT NULL DEFAULT 'pending',
    reason          text        NOT NULL DEFAULT '', -- why it ended, for programs
    message         text        NOT NULL DEFAULT '', -- … and for people
    object_key      text        NOT NULL, -- of the archive
    derived         boolean     NOT NULL, -- rows come from the archive's listing
    file_size_bytes bigint, -- as announced
    archive_bytes   bigint      NOT NULL DEFAULT 0, -- as stored, at confirm
    archive_etag    text        NOT NULL DEFAULT '', -- what was confirmed is what is read
    rows_total      int         NOT NULL DEFAULT 0,
    rows_done       int         NOT NULL DEFAULT 0,
    bytes_total     bigint      NOT NULL DEFAULT 0,
    bytes_done      bigint      NOT NULL DEFAULT 0,
    success_count   int         NOT NULL DEFAULT 0,
    error_count     int         NOT NULL DEFAULT 0,
    skipped_count   int         NOT NULL DEFAULT 0,
    skipped         jsonb       NOT NULL DEFAULT '[]', -- the first of them
    cancel_by       bigint, -- who asked to cancel
    cancel_at       timestamptz,
    inspected_at    timestamptz, -- rows_total and bytes_total are known
    -- What the dispatcher still has to tell the run: the row is its own outbox.
    ring_at         timestamptz,
    ring_gen        bigint      NOT NULL DEFAULT 0,
    ring_attempts   int         NOT NULL DEFAULT 0,
    ring_error      text        NOT NULL DEFAULT '',
    expires_at      timestamptz NOT NULL, -- of the address that takes the archive
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    confirmed_at    timestamptz,
    finished_at     timestamptz,
    swept_at        timestamptz, -- the archive is gone and nothing can be put there any more
    FOREIGN KEY (org_id, pipeline_id) REFERENCES pipelines (org_id, id) ON DELETE CASCADE,
    CONSTRAINT uploads_status CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    CONSTRAINT uploads_finished CHECK ((finished_at IS NOT NULL) = (status IN ('completed', 'failed', 'cancelled'))),
    CONSTRAINT uploads_counts CHECK (success_count + error_count = rows_done AND rows_done <= rows_total)
) WITH (fillfactor = 70);
CREATE INDEX uploads_by_pipeline ON uploads (pipeline_id, id DESC);
CREATE INDEX uploads_due ON uploads (ring_at) WHERE ring_at IS NOT NULL;
CREATE INDEX uploads_pending ON uploads (expires_at) WHERE status = 'pending';
CREATE INDEX uploads_processing ON uploads (updated_at) WHERE status = 'processing';
CREATE INDEX uploads_unswept ON uploads (expires_at) WHERE finished_at IS NOT NULL AND swept_at IS NULL;

-- One future task each. Row and task are written in one transaction, and a row
-- leaves `waiting` once: that is what keeps a task from being made twice.
CREATE TABLE upload_rows (
    upload_id uuid  NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    row_index int   NOT NULL, -- from 0
    status    text  NOT NULL DEFAULT 'waiting',
    fields    jsonb NOT NULL DEFAULT '{}', -- with paths for files; empty once the row is done
    errors    jsonb NOT NULL DEFAULT '[]',
    task_id   bigint,
    PRIMARY KEY (upload_id, row_index),
    CONSTRAINT upload_rows_status CHECK (status IN ('waiting', 'created', 'failed')),
    CONSTRAINT upload_rows_task CHECK ((task_id IS NOT NULL) = (status = 'created'))
);
CREATE INDEX upload_rows_waiting ON upload_rows (upload_id, row_index) WHERE status = 'waiting';

-- Files in the object store that values refer to by their id.
CREATE TABLE files (
    id           uuid PRIMARY KEY,
    org_id       bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    upload_id    uuid, -- where it came from
    object_key   text        NOT NULL,
    name         text        NOT NULL,
    size         bigint      NOT NULL,
    sha256       text        NOT NULL, -- 64 hexadecimal digits
    content_type text        NOT NULL, -- by its bytes, not by its name
    created_at   timestamptz NOT NULL DEFAULT now()
);

-- The worker's own connection: it ends with the process, however that ends.
ALTER TABLE worker_heartbeats ADD COLUMN backend_pid int;
