// Where the text of the playground is kept: it outlives a reload and a session that ends, and not a sign-out.

export const DRAFT = "swar.draft"; // in sessionStorage
