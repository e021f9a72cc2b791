CREATE TABLE signin (
    id         TEXT PRIMARY KEY,
    record     BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX signin_by_end ON signin (expires_at);
