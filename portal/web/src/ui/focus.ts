/** Puts the focus where a page begins. */
export const focusHead = () => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
