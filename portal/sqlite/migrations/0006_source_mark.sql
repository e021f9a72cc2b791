-- What tells the last event of a source from another one with its number: two logs may be copies of one. Empty where it is not known.
ALTER TABLE sources ADD COLUMN mark TEXT NOT NULL DEFAULT '';
