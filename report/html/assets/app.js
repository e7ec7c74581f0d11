// The script of all pages. It enhances what is there: without it, pages show
// the same run without filters.
(function () {
  "use strict";

  // ---- theme: that of the system unless the reader chose one ----
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("optcheck-theme"); } catch { return null; } };
  const apply = (t) => { if (t === "light" || t === "dark") root.dataset.theme = t; else delete root.dataset.theme; };
  apply(stored());

  function themeToggle() {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const next = { system: "light", light: "dark", dark: "system" };
    const now = () => root.dataset.theme || "system";
    const label = () => { button.textContent = "Theme: " + now(); };
    button.hidden = false;
    label();
    button.addEventListener("click", () => {
      const t = next[now()];
      apply(t);
      try { if (t === "system") localStorage.removeItem("optcheck-theme"); else localStorage.setItem("optcheck-theme", t); } catch { /* not kept */ }
      label();
    });
  }

  document.addEventListener("DOMContentLoaded", themeToggle);
})();
