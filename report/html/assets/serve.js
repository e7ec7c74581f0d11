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

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form[data-filter], form[data-autosubmit]").forEach(submitOnChange);
    keepOpen();
    watch();
  });
})();
