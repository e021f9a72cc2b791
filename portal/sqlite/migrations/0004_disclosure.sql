-- What is spoken before every text. NULL sets nothing: whoever is asked next decides; an empty text means nothing.
ALTER TABLE orgs ADD COLUMN disclosure TEXT;
ALTER TABLE keys ADD COLUMN disclosure TEXT;
ALTER TABLE keys ADD COLUMN org_disclosure TEXT; -- that of orgs, where those who watch keys find it
