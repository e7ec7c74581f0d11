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

  // paint gives the lines of an editor the colours of the machine code beside it, and its margin
  // what was found; what was made of a line and the line answer to the mouse together.
  function paint(page, edit) {
    const classes = new Map();
    page.querySelectorAll(".ce-lines li[data-of][class]").forEach((li) => classes.set(Number(li.dataset.of), li.className));
    edit.paint(classes);
    page.querySelector(".ce-source")?.remove(); // the editor shows it
    const told = [];
    page.querySelectorAll("[data-fault], [data-finding]").forEach((e) => {
      if (Number(e.dataset.line) > 0) told.push({ line: Number(e.dataset.line), col: Number(e.dataset.col), severity: e.dataset.severity || "error", message: e.lastElementChild.textContent });
    });
    edit.tell(told);
    page.querySelectorAll("[data-goto]").forEach((a) => a.addEventListener("click", (e) => { e.preventDefault(); edit.show(Number(a.dataset.goto), 1, true); }));
    const light = (n) => page.querySelectorAll("[data-of], [data-at]").forEach((e) => e.classList.toggle("on", n > 0 && Number(e.dataset.of || e.dataset.at) === n));
    page.querySelector(".try-two")?.addEventListener("mouseover", (e) => { const at = e.target.closest("[data-of], [data-at]"); light(at ? Number(at.dataset.of || at.dataset.at) : 0); });
    page.querySelectorAll("li[data-of]").forEach((li) => li.addEventListener("click", () => { if (Number(li.dataset.of) > 0 && !getSelection().toString()) edit.show(Number(li.dataset.of), 1, false); }));
  }

  let nonce = ""; // of the page that was loaded, for the editor's styles

  // The form to try things: what is wrong is shown at its place, Ctrl-Enter compiles, and
  // while that takes time it can be cancelled: the server ends what its reader left.
  function tryForm(form) {
    const page = form.closest("main"), text = form.elements.test, go = form.querySelector("button"), cancel = form.querySelector("[data-cancel]");
    const said = form.querySelector("[data-running]"), what = form.elements.what.value;
    const send = () => form.requestSubmit();
    const edit = window.optcheckEditor?.attach(text, { language: what === "model" ? "litmus" : what, go: send, nonce });
    if (edit) paint(page, edit);
    let asked = null;
    const show = (running) => {
      go.disabled = running;
      cancel.hidden = !running;
      said.textContent = running ? "Working…" : "";
    };
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      if (asked) return;
      asked = new AbortController();
      show(true);
      try {
        const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: asked.signal });
        const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
        if (!next) throw new Error("the server answers " + answer.status);
        page.replaceWith(next);
        next.querySelectorAll("form[data-try]").forEach(tryForm);
        if (!next.querySelector(".try-two") || innerWidth < 900) next.querySelector("#try-error, #try-result")?.scrollIntoView();
      } catch (err) {
        show(false);
        if (err.name !== "AbortError") said.textContent = "No answer: " + err.message;
        asked = null;
      }
    });
    cancel.addEventListener("click", () => { asked?.abort(); (edit?.view || text).focus(); });
    if (!edit) text.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) send(); });
    const line = Number(text.dataset.line), col = Number(text.dataset.col);
    if (line > 0 && edit) edit.show(line, col, true);
    else if (line > 0) {
      const lines = text.value.split("\n");
      const at = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + Math.max(0, col - 1);
      text.focus({ preventScroll: true });
      text.setSelectionRange(at, at + 1);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    nonce = document.querySelector(".try")?.dataset.nonce || "";
    document.querySelectorAll("form[data-try]").forEach(tryForm);
    document.querySelectorAll("form[data-filter], form[data-autosubmit]").forEach(submitOnChange);
    keepOpen();
    watch();
  });
})();
