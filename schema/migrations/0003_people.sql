-- Invites, what people set for themselves, and sessions that they can tell
-- apart.

-- A link that lets one person in. Only its token's hash is kept; the row is
-- used up in the transaction that makes the membership.
CREATE TABLE invites (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id      bigint      NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    project_id  bigint, -- set when admins of this project made it and may see it
    email       text        NOT NULL, -- lower case
    hash        bytea       NOT NULL UNIQUE, -- sha256 of the token
    role        text        NOT NULL, -- in the organization
    invited_by  bigint      NOT NULL REFERENCES users (id),
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    accepted_at timestamptz,
    accepted_by bigint REFERENCES users (id),
    revoked_at  timestamptz,
    UNIQUE (org_id, id),
    FOREIGN KEY (org_id, project_id) REFERENCES projects (org_id, id) ON DELETE CASCADE,
    CONSTRAINT invites_email_lower CHECK (email = lower(email)),
    CONSTRAINT invites_hash_size CHECK (octet_length(hash) = 32),
    CONSTRAINT invites_role CHECK (role IN ('org_admin', 'member')),
    -- Project admins let nobody further in than into their project.
    CONSTRAINT invites_project_role CHECK (project_id IS NULL OR role = 'member'),
    CONSTRAINT invites_accepted CHECK ((accepted_at IS NULL) = (accepted_by IS NULL)),
    CONSTRAINT invites_one_end CHECK (accepted_at IS NULL OR revoked_at IS NULL)
);
CREATE INDEX invites_by_org ON invites (org_id, id DESC);

CREATE TABLE invite_projects (
    org_id     bigint NOT NULL,
    invite_id  bigint NOT NULL,
    project_id bigint NOT NULL,
    role       text   NOT NULL,
    PRIMARY KEY (invite_id, project_id),
    FOREIGN KEY (org_id, invite_id) REFERENCES invites (org_id, id) ON DELETE CASCADE,
    FOREIGN KEY (org_id, project_id) REFERENCES projects (org_id, id) ON DELETE CASCADE,
    CONSTRAINT invite_projects_role CHECK (role IN ('project_admin', 'contributor', 'reviewer'))
);

-- The hash is no name to show; the id is.
ALTER TABLE sessions
    ADD COLUMN id    bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN agent text NOT NULL DEFAULT ''; -- User-Agent of the login

-- What the web app keeps for a person; the server does not look into it.
CREATE TABLE user_settings (
    user_id    bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key        text        NOT NULL,
    value      jsonb       NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key),
    CONSTRAINT user_settings_key CHECK (key ~ '^[a-z0-9._:-]{1,80}$')
);
