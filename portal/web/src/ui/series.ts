// The colours of series in charts, legends and tables.

const OTHER = "c5";

/** The colour of a series by its place: eight, and grey for what is left. */
export const colour = (i: number, other?: boolean) => (other || i > 7 ? OTHER : "c" + (i < 4 ? i + 1 : i + 2));
