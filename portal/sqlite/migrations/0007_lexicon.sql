-- How words are spoken for the keys of a project. Entries are JSON; changed numbers the changes of all lexicons.
CREATE TABLE lexicons (
	project_id TEXT PRIMARY KEY,
	org_id TEXT NOT NULL,
	version INTEGER NOT NULL,
	entries TEXT NOT NULL,
	updated_at INTEGER,
	updated_by TEXT NOT NULL,
	changed INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX lexicons_changed ON lexicons (changed);
