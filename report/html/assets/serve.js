// What a server adds to the pages: forms answer at once, and a page says when
// there is something newer. Everything works without it.
(function () {
  "use strict";

  function submitOnChange(form) {
    let timer = 0;
    const send = () => {
      const p = new URLSearchParams();
      for (const [k, v] of new FormData(form)) if (v !== "") p.append(k, v);
      const sort = new URLSearchParams(location.search).get("sort");
      if (sort) p.append("sort", sort);
      location.search = p.toString();
    };
    form.addEventListener("change", () => { clearTimeout(timer); timer = setTimeout(send, 250); });
    form.addEventListener("submit", (e) => { e.preventDefault(); clearTimeout(timer); send(); });
    const reset = form.querySelector("[data-reset]");
    if (reset && location.search) {
      reset.hidden = false;
      reset.addEventListener("click", (e) => { e.preventDefault(); location.search = ""; });
    }
  }

  // A part of the filter that is in use stays open over the next answer.
  function keepOpen() {
    const key = "optcheck-open";
    let open = [];
    try { open = JSON.parse(sessionStorage.getItem(key)) || []; } catch { /* none */ }
    const facets = Array.from(document.querySelectorAll("details.facet"));
    for (const d of facets) {
      if (open.includes(d.dataset.key)) d.open = true;
      d.addEventListener("toggle", () => {
        try { sessionStorage.setItem(key, JSON.stringify(facets.filter((x) => x.open).map((x) => x.dataset.key))); } catch { /* not kept */ }
      });
    }
  }

  function watch() {
    const mark = document.querySelector("[data-version]");
    if (!mark) return;
    const base = document.body.dataset.root || "";
    const look = async () => {
      try {
        const answer = await fetch(base + "api/version");
        if (answer.ok && String((await answer.json()).version) !== mark.dataset.version) {
          const p = document.createElement("p");
          const a = document.createElement("a");
          a.href = location.href;
          a.textContent = "Show them";
          p.className = "note newer";
          p.setAttribute("role", "status");
          p.append("There are newer results. ", a);
          document.querySelector("main").prepend(p);
          return;
        }
      } catch { /* the server has gone; it may come back */ }
      setTimeout(look, 5000);
    };
    setTimeout(look, 5000);
  }

  // The form to try a test: what is wrong is shown at its place, Ctrl-Enter compiles, and
  // while that takes time it can be cancelled: the server ends what its reader left.
  function tryForm(form) {
    const text = form.querySelector("textarea"), go = form.querySelector("button"), cancel = form.querySelector("[data-cancel]");
    const said = form.querySelector("[data-running]");
    let asked = null;
    const show = (running) => {
      go.disabled = running;
      cancel.hidden = !running;
      said.textContent = running ? "Compiling…" : "";
    };
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      if (asked) return;
      asked = new AbortController();
      show(true);
      try {
        const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: asked.signal });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
        if (!page) throw new Error("the server answers " + answer.status);
        document.querySelector("main").replaceWith(page);
        page.querySelectorAll("form[data-try]").forEach(tryForm);
        page.querySelector("#try-error, #try-result")?.scrollIntoView();
      } catch (err) {
        show(false);
        if (err.name !== "AbortError") said.textContent = "No answer: " + err.message;
        asked = null;
      }
    });
    cancel.addEventListener("click", () => { asked?.abort(); text.focus(); });
    text.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.requestSubmit(); });
    const line = Number(text.dataset.line), col = Number(text.dataset.col);
    if (line > 0) {
      const lines = text.value.split("\n");
      const at = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + Math.max(0, col - 1);
      text.focus({ preventScroll: true });
      text.setSelectionRange(at, at + 1);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form[data-try]").forEach(tryForm);
    document.querySelectorAll("form[data-filter], form[data-autosubmit]").forEach(submitOnChange);
    keepOpen();
    watch();
  });
})();
