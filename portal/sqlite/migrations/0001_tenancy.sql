-- Times are microseconds since 1970 in UTC; NULL is an absent one. Lists are JSON.
--
-- There are no foreign keys: a store holds no rule, and what is moved from another one comes in any order.

CREATE TABLE orgs (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT NOT NULL,
    active_keys INTEGER NOT NULL,
    owners      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    org_id     TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_of_org ON projects (org_id, created_at, id);

CREATE TABLE members (
    org_id     TEXT NOT NULL,
    email      TEXT NOT NULL,
    role       TEXT NOT NULL,
    state      TEXT NOT NULL,
    invited_at INTEGER,
    invited_by TEXT NOT NULL,
    joined_at  INTEGER,
    user_id    TEXT NOT NULL,
    mailed_at  INTEGER,
    PRIMARY KEY (org_id, email)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_email ON members (email, org_id);

CREATE TABLE keys (
    id           TEXT PRIMARY KEY,
    org_id       TEXT NOT NULL,
    project_id   TEXT NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    prefix       TEXT NOT NULL,
    hash         BLOB NOT NULL,
    voices       TEXT NOT NULL,
    origin       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    created_by   TEXT NOT NULL,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    expires_at   INTEGER,
    changed      INTEGER NOT NULL -- numbers the changes of all keys, so that watchers can ask for what came since
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_of_org ON keys (org_id, created_at, id);
CREATE UNIQUE INDEX keys_by_change ON keys (changed);
CREATE INDEX keys_by_end ON keys (expires_at) WHERE expires_at IS NOT NULL;

-- One row: the number of the last change of a key. It outlives the key, which a maximum over the keys would not.
CREATE TABLE key_changes (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO key_changes VALUES (1, 0);

CREATE TABLE voice_requests (
    id         TEXT PRIMARY KEY,
    org_id     TEXT NOT NULL,
    voice_name TEXT NOT NULL,
    language   TEXT NOT NULL,
    use_case   TEXT NOT NULL,
    hours      REAL,
    notes      TEXT NOT NULL,
    status     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    moves      TEXT NOT NULL
) STRICT;
CREATE INDEX voice_requests_of_org ON voice_requests (org_id, created_at, id);

CREATE TABLE audits (
    org_id TEXT NOT NULL,
    at     INTEGER NOT NULL,
    id     TEXT NOT NULL,
    actor  TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (org_id, at, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
    scope      TEXT NOT NULL,
    key        TEXT NOT NULL,
    body       BLOB NOT NULL,
    json       BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX answers_by_end ON answers (expires_at);
