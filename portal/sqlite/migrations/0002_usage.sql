CREATE TABLE sources (
    source   TEXT PRIMARY KEY,
    position INTEGER NOT NULL -- number of the last event that is booked
) STRICT, WITHOUT ROWID;

CREATE TABLE months (
    month     TEXT PRIMARY KEY, -- closed
    rate      INTEGER NOT NULL, -- paise a minute
    closed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE shards (
    org_id   TEXT NOT NULL,
    date     TEXT NOT NULL,
    source   TEXT NOT NULL,
    requests INTEGER NOT NULL,
    frames   INTEGER NOT NULL,
    billed   INTEGER NOT NULL,
    cells    BLOB NOT NULL, -- last, so that adding up the numbers does not read it
    PRIMARY KEY (org_id, date, source)
) STRICT;
CREATE INDEX shards_of_day ON shards (date, org_id);

CREATE TABLE requests (
    id             TEXT NOT NULL,
    org_id         TEXT NOT NULL,
    start          INTEGER NOT NULL,
    date           TEXT NOT NULL,
    source         TEXT NOT NULL,
    project_id     TEXT NOT NULL,
    key_id         TEXT NOT NULL,
    key_prefix     TEXT NOT NULL,
    playground     INTEGER NOT NULL,
    request_id     TEXT NOT NULL,
    endpoint       TEXT NOT NULL,
    voice          TEXT NOT NULL,
    format         TEXT NOT NULL,
    status         TEXT NOT NULL,
    error          TEXT NOT NULL,
    frames         INTEGER NOT NULL,
    billed         INTEGER NOT NULL,
    chars          INTEGER NOT NULL,
    chunks         INTEGER NOT NULL,
    ttfa_us        INTEGER NOT NULL,
    queue_us       INTEGER NOT NULL,
    wall_us        INTEGER NOT NULL,
    synth_us       INTEGER NOT NULL,
    prefill_cached INTEGER NOT NULL,
    seed           INTEGER NOT NULL
) STRICT;
-- All records of a stream have one organisation and one start, so the order of the log is also what tells its rows apart.
CREATE UNIQUE INDEX requests_of_org ON requests (org_id, start, id);
CREATE INDEX requests_of_project ON requests (project_id, start);
CREATE INDEX requests_of_key ON requests (key_id, start);
CREATE INDEX requests_of_voice ON requests (org_id, voice, start);
CREATE INDEX requests_of_endpoint ON requests (org_id, endpoint, start);
CREATE INDEX requests_not_ok ON requests (org_id, status, start) WHERE status <> 'ok'; -- nearly all are ok
CREATE INDEX requests_slow ON requests (org_id, start, ttfa_us) WHERE ttfa_us >= 200000; -- few are slow,
CREATE INDEX requests_very_slow ON requests (org_id, start, ttfa_us) WHERE ttfa_us >= 1000000; -- and very few very slow
CREATE INDEX requests_of_day ON requests (date);
