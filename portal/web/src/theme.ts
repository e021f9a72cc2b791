// Runs before the first paint, so that nobody sees the other theme or language first.
const root = document.documentElement;
const theme = localStorage.getItem("swar.theme");
if (theme) root.dataset.theme = theme;
const language = localStorage.getItem("swar.language");
if (language) root.lang = language;
