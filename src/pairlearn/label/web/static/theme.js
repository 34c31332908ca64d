// Light or dark, decided before the first paint. A plain script in the head, so that a dark
// room sees no white flash; settings.js changes the wish and calls `pairlearnTheme` again.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let wish = null;
    try {
      wish = JSON.parse(localStorage.getItem("pairlearn/theme"));
    } catch {
      // A browser that keeps nothing follows the system.
    }
    const theme = wish === "light" || wish === "dark" ? wish : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
  };
  dark.addEventListener("change", apply);
  globalThis.pairlearnTheme = apply;
  apply();
})();
