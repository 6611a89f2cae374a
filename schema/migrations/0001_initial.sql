-- The spine: who may do what, pipelines, tasks with their journal, the outbox.
-- Every table that belongs to an organization carries org_id, so that each
-- query can be scoped by it without a detour.

CREATE TABLE organizations (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug       text        NOT NULL UNIQUE,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT organizations_slug_shape CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$')
);

CREATE TABLE users (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         text        NOT NULL, -- lower case
    name          text        NOT NULL,
    password_hash text        NOT NULL, -- argon2id, PHC string
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT users_email_lower CHECK (email = lower(email))
);
CREATE UNIQUE INDEX users_email ON users (email);

-- A removed member keeps the row: keys that they made still name them.
CREATE TABLE org_members (
    org_id     bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    PRIMARY KEY (org_id, user_id),
    CONSTRAINT org_members_role CHECK (role IN ('org_admin', 'member'))
);
CREATE INDEX org_members_user ON org_members (user_id);

CREATE TABLE projects (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, name),
    UNIQUE (org_id, id)
);

CREATE TABLE project_members (
    org_id     bigint      NOT NULL,
    project_id bigint      NOT NULL,
    user_id    bigint      NOT NULL,
    role       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, user_id),
    FOREIGN KEY (org_id, project_id) REFERENCES projects (org_id, id) ON DELETE CASCADE,
    FOREIGN KEY (org_id, user_id) REFERENCES org_members (org_id, user_id) ON DELETE CASCADE,
    CONSTRAINT project_members_role CHECK (role IN ('project_admin', 'contributor', 'reviewer'))
);
CREATE INDEX project_members_user ON project_members (user_id);

CREATE TABLE pipelines (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint      NOT NULL,
    project_id bigint      NOT NULL,
    name       text        NOT NULL,
    status     text        NOT NULL DEFAULT 'DRAFT',
    -- What the builder edits; a published version is a copy of it.
    draft      jsonb       NOT NULL,
    -- Counts saves of the draft, so that two admins cannot overwrite each other.
    revision   bigint      NOT NULL DEFAULT 1,
    -- The version that new tasks get; null until the first publish.
    version_id bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (project_id, name),
    UNIQUE (org_id, id),
    FOREIGN KEY (org_id, project_id) REFERENCES projects (org_id, id) ON DELETE CASCADE,
    CONSTRAINT pipelines_status CHECK (status IN
        ('DRAFT', 'ACTIVE', 'PAUSED', 'COMPLETED', 'ARCHIVED', 'PENDING_ACTIVATION'))
);

CREATE TABLE pipeline_versions (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id       bigint      NOT NULL,
    pipeline_id  bigint      NOT NULL,
    number       int         NOT NULL,
    definition   jsonb       NOT NULL,
    note         text        NOT NULL DEFAULT '',
    published_by bigint REFERENCES users (id),
    created_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (pipeline_id, number),
    FOREIGN KEY (org_id, pipeline_id) REFERENCES pipelines (org_id, id) ON DELETE CASCADE
);
ALTER TABLE pipelines ADD FOREIGN KEY (version_id) REFERENCES pipeline_versions (id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is immutable', TG_TABLE_NAME;
END $$;
CREATE TRIGGER pipeline_versions_immutable BEFORE UPDATE ON pipeline_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE datasets (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name       text        NOT NULL,
    columns    text[]      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, name)
);

CREATE TABLE dataset_rows (
    dataset_id bigint NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    position   int    NOT NULL, -- from 0
    data       jsonb  NOT NULL,
    PRIMARY KEY (dataset_id, position)
);

CREATE TABLE api_keys (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id       bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name         text        NOT NULL,
    hash         bytea       NOT NULL UNIQUE, -- sha256 of the whole value
    last4        text        NOT NULL,
    created_by   bigint      NOT NULL REFERENCES users (id),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    UNIQUE (org_id, name),
    CONSTRAINT api_keys_hash_size CHECK (octet_length(hash) = 32)
);

CREATE TABLE sessions (
    hash       bytea PRIMARY KEY, -- sha256 of the cookie's value
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(), -- refreshed at most once a minute
    expires_at timestamptz NOT NULL,
    CONSTRAINT sessions_hash_size CHECK (octet_length(hash) = 32)
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- First answers by Idempotency-Key, kept for 24 h.
CREATE TABLE idempotency_keys (
    api_key_id bigint      NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    route      text        NOT NULL, -- method and path
    key        text        NOT NULL,
    body_hash  bytea       NOT NULL,
    status     int         NOT NULL,
    answer     json        NOT NULL, -- as sent, byte for byte
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (api_key_id, route, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Tasks and what hangs on them carry no foreign keys to each other: they are
-- only written by commands that hold the pipeline or the task locked, and a
-- check per row would cost a third of a bulk create.
CREATE TABLE tasks (
    id            bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    org_id        bigint      NOT NULL,
    pipeline_id   bigint      NOT NULL,
    version_id    bigint      NOT NULL,
    status        text        NOT NULL DEFAULT 'pending', -- stored; the pipeline's pause is added at read
    held          boolean     NOT NULL DEFAULT false,
    touched       boolean     NOT NULL DEFAULT false, -- any node was ever claimed
    priority      smallint    NOT NULL DEFAULT 0,     -- lower is served first
    seq           bigint      NOT NULL DEFAULT 1,     -- last journal row
    applied_seq   bigint      NOT NULL DEFAULT 1,     -- last journal row whose consequences are written
    start_skipped text[],
    n_total       smallint    NOT NULL, -- node_summary
    n_finished    smallint    NOT NULL DEFAULT 0,
    n_in_progress smallint    NOT NULL DEFAULT 0,
    n_pending     smallint    NOT NULL DEFAULT 0,
    input         jsonb       NOT NULL, -- seeded values
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tasks_status CHECK (status IN
        ('pending', 'in_progress', 'finished', 'failed', 'paused', 'escalated', 'quarantined')),
    CONSTRAINT tasks_summary CHECK (n_total = n_finished + n_in_progress + n_pending),
    CONSTRAINT tasks_applied CHECK (applied_seq <= seq)
) WITH (fillfactor = 85);
CREATE INDEX tasks_by_pipeline ON tasks (pipeline_id, id DESC);
-- On (-id), which no other index can sort by: so a filtered page is always read
-- from here, and never by walking past all the tasks of another status.
CREATE INDEX tasks_by_status ON tasks (pipeline_id, status, (-id));
CREATE INDEX tasks_lagging ON tasks (updated_at) WHERE applied_seq < seq;

CREATE TABLE task_nodes (
    task_id          bigint      NOT NULL,
    key              text        NOT NULL,
    org_id           bigint      NOT NULL,
    pipeline_id      bigint      NOT NULL,
    kind             text        NOT NULL, -- subtask, review
    status           text        NOT NULL,
    iteration        int         NOT NULL DEFAULT 1,
    priority         smallint    NOT NULL DEFAULT 0,
    last_seq         bigint      NOT NULL DEFAULT 1, -- journal row that wrote this node last
    lease_seconds    int         NOT NULL DEFAULT 1800,
    four_eyes        boolean     NOT NULL DEFAULT false, -- not for who submitted on this task
    claim_id         uuid, -- its first 48 bits are the task id, so it needs no index
    claimed_by       bigint,
    lease_expires_at timestamptz,
    reserved_for     bigint, -- who alone may claim a returned node …
    reserved_until   timestamptz, -- … until then
    sla_at           timestamptz,
    actor            bigint, -- who submitted it last
    skipped          text[], -- next nodes that the last submission ruled out
    passed           boolean     NOT NULL DEFAULT false,
    reworks          smallint    NOT NULL DEFAULT 0,
    reason           text        NOT NULL DEFAULT '',
    PRIMARY KEY (task_id, key),
    CONSTRAINT task_nodes_kind CHECK (kind IN ('subtask', 'review')),
    CONSTRAINT task_nodes_status CHECK (status IN ('pending', 'deferred', 'available', 'claimed',
        'submitted', 'escalated', 'quarantined', 'finished', 'na')),
    CONSTRAINT task_nodes_claim CHECK ((status = 'claimed') = (claim_id IS NOT NULL)
        AND (claim_id IS NULL) = (claimed_by IS NULL) AND (claim_id IS NULL) = (lease_expires_at IS NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
-- The queue: what anybody may claim, in the order it is served.
CREATE INDEX task_nodes_queue ON task_nodes (pipeline_id, kind, priority, task_id)
    WHERE status = 'available' AND reserved_for IS NULL;
CREATE INDEX task_nodes_reserved ON task_nodes (pipeline_id, kind, reserved_for, priority, task_id)
    WHERE status = 'available' AND reserved_for IS NOT NULL;
CREATE INDEX task_nodes_kept ON task_nodes (reserved_until)
    WHERE status = 'available' AND reserved_for IS NOT NULL;
CREATE INDEX task_nodes_leases ON task_nodes (pipeline_id, kind, lease_expires_at)
    WHERE status = 'claimed';
CREATE INDEX task_nodes_waiting ON task_nodes (pipeline_id, task_id)
    WHERE status IN ('escalated', 'quarantined');
CREATE INDEX task_nodes_sla ON task_nodes (sla_at)
    WHERE sla_at IS NOT NULL AND status IN ('available', 'claimed');

-- The journal: every fact about a task, gap-free per task.
CREATE TABLE task_events (
    task_id    bigint      NOT NULL,
    seq        bigint      NOT NULL,
    kind       text        NOT NULL,
    node_key   text        NOT NULL DEFAULT '',
    iteration  int         NOT NULL DEFAULT 0,
    actor      bigint,
    claim_id   uuid,
    lease_ends timestamptz,
    outcome    text        NOT NULL DEFAULT '',
    skipped    text[],
    returned   text[],
    reason     text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (task_id, seq)
);

-- What people handed in: at most one a node and iteration.
CREATE TABLE submissions (
    claim_id   uuid PRIMARY KEY,
    org_id     bigint      NOT NULL,
    task_id    bigint      NOT NULL,
    node_key   text        NOT NULL,
    iteration  int         NOT NULL,
    author     bigint      NOT NULL,
    verdict    text        NOT NULL DEFAULT '', -- of a review: approve, reject, escalate
    values     jsonb       NOT NULL DEFAULT '{}',
    comments   jsonb       NOT NULL DEFAULT '[]',
    seq        bigint      NOT NULL, -- its journal row
    request    bytea       NOT NULL DEFAULT '', -- hash of what was sent, to know a repeat
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (task_id, node_key, iteration)
);

-- Drafts outlive the claim that they were written under.
CREATE TABLE drafts (
    task_id    bigint      NOT NULL,
    node_key   text        NOT NULL,
    user_id    bigint      NOT NULL,
    org_id     bigint      NOT NULL,
    values     jsonb       NOT NULL,
    revision   bigint      NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (task_id, node_key, user_id)
);

-- What the dispatcher still has to tell Temporal. One row a journal event that
-- a run must hear of (topic task_event), or a nudge to look again (task_sync).
CREATE TABLE outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic           text        NOT NULL,
    task_id         bigint      NOT NULL,
    seq             bigint      NOT NULL DEFAULT 0,
    priority        smallint    NOT NULL DEFAULT 0, -- lower goes first: people before bulk starts
    attempts        int         NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(), -- doubles as the dispatcher's lease
    last_error      text        NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (task_id, seq),
    CONSTRAINT outbox_topic CHECK (topic IN ('task_event', 'task_sync'))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX outbox_due ON outbox (priority, next_attempt_at, id);

CREATE TABLE worker_heartbeats (
    worker_id   text PRIMARY KEY,
    queues      text[]      NOT NULL,
    temporal_ok boolean     NOT NULL,
    at          timestamptz NOT NULL DEFAULT now()
);

-- Who did what with privileges, written in the command's own transaction.
CREATE TABLE audit_log (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint      NOT NULL,
    actor      bigint, -- null: the command line
    action     text        NOT NULL,
    object     text        NOT NULL,
    detail     jsonb       NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_org ON audit_log (org_id, id DESC);
CREATE TRIGGER audit_log_immutable BEFORE UPDATE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
