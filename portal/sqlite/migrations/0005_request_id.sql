-- Who has an answer of the API looks its request up by the id in it.
CREATE INDEX requests_of_request_id ON requests (org_id, request_id, start);
