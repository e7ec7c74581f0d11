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

  // The filter lives in the fragment of the address, which the skip link would
  // overwrite.
  function skipLink() {
    const skip = document.querySelector(".skip");
    if (skip) skip.addEventListener("click", (e) => { e.preventDefault(); document.getElementById("main").focus(); });
  }

  // ---- small things ----
  const $ = (s, in_) => (in_ || document).querySelector(s);
  const $$ = (s, in_) => Array.from((in_ || document).querySelectorAll(s));
  const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const plural = (n, what) => number(n) + " " + what + (n === 1 ? "" : "s");
  const lower = (s) => s.replace(/[A-Z]+/g, (w) => w.toLowerCase());
  function el(name, attrs, ...children) {
    const e = document.createElement(name);
    for (const k in attrs) if (attrs[k] !== undefined && attrs[k] !== false) e.setAttribute(k, attrs[k] === true ? "" : attrs[k]);
    for (const c of children) if (c !== undefined && c !== "") e.append(c);
    return e;
  }
  function percent(n, of) {
    if (!of || !n) return "0 %";
    if (n === of) return "100 %";
    const p = 100 * n / of;
    return p < 0.1 ? "< 0.1 %" : p > 99.9 ? "> 99.9 %" : (Math.round(p * 10) / 10).toFixed(1) + " %";
  }
  function compact(n) {
    if (n < 1000) return String(n);
    if (n < 9950) return (n / 1000).toFixed(1) + "k";
    return n < 999500 ? Math.floor((n + 500) / 1000) + "k" : Math.floor((n + 500000) / 1000000) + "M";
  }

  // Classes are numbers: positions in the words of classes, the worst first.
  const sign = { preserved: "✓", optimised: "≈", miscompiled: "✗", changed: "≠", crashed: "!", invalid: "⊘", unsupported: "–", unknown: "?" };
  const UNSUPPORTED = 6, PRESERVED = 7;
  const KEYS = ["class", "rule", "release", "target", "level", "layout", "preset", "known", "race"];
  const classMark = (c) => el("span", { class: "cls c-" + c }, el("span", { class: "sign", "aria-hidden": "true" }, sign[c]), " " + c);

  // ---- the run: columns of numbers ----
  function varints(text) {
    const bytes = atob(text);
    let at = 0;
    return () => {
      let v = 0, m = 1, b;
      do { b = bytes.charCodeAt(at++); v += (b & 127) * m; m *= 128; } while (b & 128);
      return v;
    };
  }

  function unpack(d) {
    const run = { words: d.Words.map((w) => w || []), labels: d.Labels || [], per: d.Per, tests: d.Tests || [], presets: d.Presets || [], texts: d.Texts, groups: d.Groups || [] };
    const columns = d.Columns || [];
    run.columns = [0, 1, 2, 3].map((k) => columns.filter((_, i) => i % 4 === k));
    run.kindClass = []; run.kindGroup = []; run.kindCode = [];
    let read = varints(d.Kinds), next = 1;
    for (let k = 0; k < d.NumKinds; k++) {
      run.kindClass.push(read()); run.kindGroup.push(read() - 1);
      const back = read();
      run.kindCode.push(next - back);
      if (back === 0) next++;
    }
    read = varints(d.Cells);
    run.test = new Uint32Array(d.NumCells); run.column = new Uint32Array(d.NumCells); run.kind = new Uint32Array(d.NumCells);
    run.start = new Uint32Array(run.tests.length + 1);
    let i = 0;
    next = 0;
    for (let t = 0; t < run.tests.length; t++) {
      for (let n = read(), column = 0; n > 0; n--, i++) {
        column += read();
        const back = read();
        run.test[i] = t; run.column[i] = column++; run.kind[i] = next - back;
        if (back === 0) next++;
      }
      run.start[t + 1] = i;
    }
    for (const g of run.groups) {
      g.rules = (g.r || []);
      g.findings = (g.f || []).map((f) => ({ rule: run.texts[f[0]], place: run.texts[f[1]], at: run.texts[f[2]], detail: run.texts[f[3]], stage: run.texts[f[4]] }));
      g.known = (g.k || []).map((k) => run.texts[k]);
      g.reason = run.texts[g.w || 0];
      g.race = run.texts[g.x || 0];
      g.text = lower([run.tests[g.t], g.reason].concat(...g.findings.map((f) => [f.rule, f.place, f.detail]), g.known, g.race).join("\n"));
    }
    return run;
  }

  // ---- filter: read from and written to the fragment of the address ----
  function readState() {
    const p = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const f = { lists: KEYS.map((k) => p.getAll(k)), q: (p.get("q") || "").slice(0, 200), sort: p.get("sort") || "severity", page: Math.max(1, parseInt(p.get("page"), 10) || 1) };
    if (!["severity", "test", "cells"].includes(f.sort)) f.sort = "severity";
    return f;
  }
  function writeState(f) {
    const p = new URLSearchParams();
    KEYS.forEach((k, i) => f.lists[i].forEach((w) => p.append(k, w)));
    if (f.q) p.set("q", f.q);
    if (f.sort !== "severity") p.set("sort", f.sort);
    if (f.page > 1) p.set("page", f.page);
    return "#" + p.toString();
  }
  const same = (a, b) => a.length === b.length && a.every((w) => b.includes(w));

  // matcher says which parts of a filter let a cell out, as bits.
  function matcher(run, f) {
    const allowed = f.lists.map((list, i) => {
      const ok = new Uint8Array(run.words[i].length);
      run.words[i].forEach((w, n) => { ok[n] = !list.length || list.includes(w) ? 1 : 0; });
      return ok;
    });
    const bit = (part, value) => allowed[part][value] ? 0 : 1 << part;
    const words = lower(f.q).split(/\s+/).filter(Boolean);
    const text = (s) => words.every((w) => s.includes(w)) ? 0 : 512;
    const m = {};
    m.column = Uint16Array.from(run.columns[0], (_, c) => bit(2, run.columns[0][c]) | bit(3, run.columns[1][c]) | bit(4, run.columns[2][c]) | bit(5, run.columns[3][c]));
    m.preset = Uint16Array.from(run.presets, (p) => bit(6, p));
    m.test = Uint16Array.from(run.tests, (t) => text(lower(t)));
    m.group = Uint16Array.from(run.groups, (g) => bit(0, g.c) | bit(7, g.n ? 1 : 0) | (f.lists[8].length && !f.lists[8].includes(g.race) ? 256 : 0) | text(g.text) |
      (f.lists[1].length && !g.rules.some((r) => allowed[1][r]) ? 2 : 0));
    m.plain = run.words[0].map((_, c) => bit(0, c) | (f.lists[1].length ? 2 : 0) | (f.lists[7].length ? 128 : 0) | (f.lists[8].length ? 256 : 0));
    m.fail = (i) => {
      const k = run.kind[i], g = run.kindGroup[k];
      const at = m.column[run.column[i]] | m.preset[run.test[i]];
      return g >= 0 ? at | m.group[g] : at | m.plain[run.kindClass[k]] | m.test[run.test[i]];
    };
    return m;
  }

  // select counts what a filter chooses.
  function select(run, m) {
    const s = { total: new Array(run.words[0].length).fill(0), columns: run.columns[0].map(() => new Array(run.words[0].length).fill(0)), groups: new Uint32Array(run.groups.length), facets: run.words.map((w) => new Uint32Array(w.length)) };
    const { total, columns, groups, facets } = s;
    for (let i = 0; i < run.kind.length; i++) {
      const fail = m.fail(i);
      if (fail & (fail - 1)) continue;
      const k = run.kind[i], g = run.kindGroup[k], cls = run.kindClass[k], c = run.column[i];
      if (!fail) {
        total[cls]++;
        columns[c][cls]++;
        if (g >= 0) groups[g]++;
      }
      if (!(fail & ~1)) facets[0][cls]++;
      for (let d = 0; d < 4; d++) if (!(fail & ~(4 << d))) facets[2 + d][run.columns[d][c]]++;
      if (!(fail & ~64)) facets[6][run.presets[run.test[i]]]++;
      if (g >= 0) {
        if (!(fail & ~2)) for (const r of run.groups[g].rules) facets[1][r]++;
        if (!(fail & ~128)) facets[7][run.groups[g].n ? 1 : 0]++;
        const race = run.words[8].indexOf(run.groups[g].race);
        if (race >= 0 && !(fail & ~256)) facets[8][race]++;
      }
    }
    return s;
  }

  // ranges writes the words that occur, as the pages do without the script.
  function ranges(words, has, what) {
    if (words.length > 2 && words.every((_, i) => has[i])) return "all " + number(words.length) + " " + what;
    const parts = [];
    for (let i = 0; i < words.length; i++) {
      if (!has[i]) continue;
      let j = i;
      while (j + 1 < words.length && has[j + 1]) j++;
      if (j - i < 2) { j = i; parts.push(words[i]); } else parts.push(words[i] + " … " + words[j]);
      i = j;
    }
    return parts.join(", ");
  }
  function where(run, cells) {
    const has = run.columns.map(() => []);
    for (const i of cells) run.columns.forEach((c, d) => { has[d][c[run.column[i]]] = true; });
    const [, , , targets, levels, layouts] = run.words;
    return [ranges(run.labels, has[0], "releases"),
      [ranges(targets, has[1], "targets"), ranges(levels, has[2], "levels"), ...(layouts.join() === "own" ? [] : [ranges(layouts, has[3], "layouts")])].join(" · ")];
  }

  // ---- the overview ----
  function overview(run) {
    const form = $("[data-filter]"), list = $("[data-list]"), status = $("[data-status]"), pager = $("[data-pager]");
    if (!form) return;
    form.hidden = false;
    const boxes = matrixLinks(run);
    const update = () => {
      const f = readState(), m = matcher(run, f), s = select(run, m);
      facets(run, form, f, s);
      classes(run, f, s);
      boxes(f, s);
      if (list) findings(run, f, m, s);
    };
    const go = (f) => { location.hash = writeState(f); };

    form.addEventListener("submit", (e) => e.preventDefault());
    form.addEventListener("change", (e) => {
      if (e.target.name === "q") return;
      const f = readState();
      f.page = 1;
      f.lists = KEYS.map((k) => $$(`[data-key="${k}"] input:checked`, form).map((i) => i.value).filter(Boolean));
      go(f);
    });
    form.addEventListener("reset", (e) => { e.preventDefault(); const f = readState(); go({ lists: KEYS.map(() => []), q: "", sort: f.sort, page: 1 }); });
    typing(form.elements.q);
    popups(form);
    classButtons(run, go);
    if (list) sortButtons(go);
    window.addEventListener("hashchange", update);
    update();

    function findings(run, f, m, s) {
      const order = [];
      let cells = 0;
      s.groups.forEach((n, g) => { if (n) { order.push(g); cells += n; } });
      if (f.sort === "test") order.sort((a, b) => run.groups[a].t - run.groups[b].t || a - b);
      if (f.sort === "cells") order.sort((a, b) => s.groups[b] - s.groups[a] || a - b);
      const pages = Math.max(1, Math.ceil(order.length / run.per)), page = Math.min(f.page, pages);
      const shown = order.slice((page - 1) * run.per, page * run.per);
      status.textContent = plural(order.length, "finding") + " in " + plural(cells, "cell") + (pages > 1 ? `; page ${page} of ${pages}` : "") + ".";
      $("tbody", list).replaceChildren(...shown.map((g) => row(run, g, m, s.groups[g])));
      $$("[data-sort]", list).forEach((th) => {
        if (th.dataset.sort === f.sort) th.setAttribute("aria-sort", f.sort === "cells" ? "descending" : "ascending"); else th.removeAttribute("aria-sort");
      });
      pager.hidden = pages < 2;
      const to = (n, text, rel) => n < 1 || n > pages ? el("span", { class: "muted" }, text) : el("a", { href: writeState({ ...f, page: n }), rel }, text);
      pager.replaceChildren(to(page - 1, "← previous", "prev"), el("span", {}, `page ${page} of ${pages}`), to(page + 1, "next →", "next"));
    }
  }

  function row(run, n, m, count) {
    const g = run.groups[n], cls = run.words[0][g.c], cells = [];
    for (let i = run.start[g.t]; i < run.start[g.t + 1]; i++) if (run.kindGroup[run.kind[i]] === n && !m.fail(i)) cells.push(i);
    const what = el("td", { class: "r-test" }, el("a", { href: "f/" + g.i + ".html" }, run.tests[g.t]));
    for (const k of g.known) what.append(" ", el("span", { class: "tag", title: "a known finding" }, k));
    if (g.race) what.append(" ", el("span", { class: "tag", title: "what the language says of the test" }, g.race));
    for (const f of g.findings) {
      what.append(el("p", {}, el("span", { class: "rule" }, f.rule), " " + (f.place ? f.place + " " : "") + f.detail,
        f.stage ? el("span", { class: "muted" }, " (" + f.stage + ")") : ""));
    }
    if (g.m) what.append(el("p", { class: "muted" }, "and " + number(g.m) + " more"));
    if (g.reason) what.append(el("p", {}, g.reason));
    return el("tr", {}, el("td", { class: "r-class" }, classMark(cls)), what,
      el("td", { class: "r-where" }, ...where(run, cells).map((w) => el("div", {}, w))), el("td", { class: "num r-cells" }, number(count)));
  }

  function sortButtons(go) {
    $$("[data-sort]").forEach((th) => {
      const b = el("button", { type: "button" }, th.textContent);
      th.replaceChildren(b);
      b.addEventListener("click", () => go({ ...readState(), sort: th.dataset.sort, page: 1 }));
    });
  }

  // Typing makes one entry of the history, however long it takes.
  function typing(input) {
    let timer, begun = false;
    const write = () => {
      const f = readState();
      if (f.q === input.value.trim()) return;
      const to = writeState({ ...f, q: input.value.trim(), page: 1 });
      if (begun) location.replace(to); else location.hash = to;
      begun = true;
    };
    input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(write, 120); });
    input.addEventListener("change", () => { clearTimeout(timer); write(); begun = false; });
    input.addEventListener("blur", () => { begun = false; });
    document.addEventListener("keydown", (e) => {
      if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); input.focus(); }
    });
  }

  // One part of the filter is open at a time; Escape closes it.
  function popups(form) {
    const all = $$("details.facet", form);
    const close = (but) => all.forEach((d) => { if (d !== but) d.open = false; });
    all.forEach((d) => d.addEventListener("toggle", () => { if (d.open) close(d); }));
    document.addEventListener("click", (e) => { if (!form.contains(e.target)) close(); });
    form.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      const open = all.find((d) => d.open);
      if (open) { open.open = false; $("summary", open).focus(); e.stopPropagation(); }
    });
    form.addEventListener("focusout", (e) => { if (e.relatedTarget && !form.contains(e.relatedTarget)) close(); });
  }

  function facets(run, form, f, s) {
    let used = Boolean(f.q);
    if (form.elements.q !== document.activeElement) form.elements.q.value = f.q;
    KEYS.forEach((key, part) => {
      const box = $(`[data-key="${key}"]`, form), chosen = f.lists[part];
      used = used || chosen.length > 0;
      if (!box) return;
      box.classList.toggle("used", chosen.length > 0);
      $(".chosen", box).textContent = chosen.length ? " · " + chosen.length : "";
      $$("input", box).forEach((input) => {
        input.checked = input.value ? chosen.includes(input.value) : !chosen.length;
        const out = $("output", input.parentNode);
        if (!out) return;
        const n = s.facets[part][run.words[part].indexOf(input.value)] || 0;
        out.textContent = number(n);
        input.parentNode.classList.toggle("nothing", !n);
      });
    });
    const reset = $("[data-reset]", form);
    reset.hidden = false;
    reset.disabled = !used;
  }

  // ---- classes: the key is part of the filter ----
  function classButtons(run, go) {
    $$("[data-class]").forEach((li) => {
      const b = el("button", { type: "button", class: "plain" });
      b.append(...li.childNodes);
      li.append(b);
      b.addEventListener("click", () => {
        const f = readState(), c = li.dataset.class;
        f.lists[0] = f.lists[0].includes(c) ? f.lists[0].filter((w) => w !== c) : f.lists[0].concat(c);
        go({ ...f, page: 1 });
      });
    });
  }
  function classes(run, f, s) {
    const all = s.total.reduce((a, b) => a + b, 0);
    $$("[data-class]").forEach((li) => {
      const n = s.total[run.words[0].indexOf(li.dataset.class)], on = f.lists[0].includes(li.dataset.class);
      $(".count", li).textContent = number(n);
      $(".share", li).textContent = percent(n, all);
      $("button", li).setAttribute("aria-pressed", on);
      li.classList.toggle("off", f.lists[0].length > 0 && !on);
    });
    $$("[data-bar]").forEach((i) => {
      const n = s.total[run.words[0].indexOf(i.dataset.bar)];
      i.style.flexGrow = n;
      i.classList.toggle("empty", !n);
    });
  }

  // ---- the matrix: boxes become links that filter, arrows move between them ----
  function matrixLinks(run) {
    const boxes = new Map();
    $$(".box[data-at]").forEach((span) => {
      const [release, target, level] = span.dataset.at.split(".").map(Number);
      const box = { span, release, target, level, columns: [] };
      boxes.set(span.dataset.at, box);
    });
    run.columns[0].forEach((_, c) => {
      const box = boxes.get([0, 1, 2].map((d) => run.columns[d][c]).join("."));
      if (box) box.columns.push(c);
    });
    const used = Array.from(boxes.values()).filter((b) => b.columns.length);
    for (const b of used) {
      b.link = el("a", { class: b.span.className, "data-at": b.span.dataset.at, tabindex: "-1" });
      b.span.replaceWith(b.link);
      b.place = [run.labels[b.release], run.words[3][b.target], run.words[4][b.level]].join(" ");
    }
    if (used.length) used[0].link.tabIndex = 0;
    $$(".matrix").forEach((t) => t.addEventListener("keydown", (e) => moveFocus(e, t)));
    $$(".matrix").forEach((t) => t.addEventListener("focusin", (e) => {
      if (e.target.matches("a.box")) { $$("a.box", t).forEach((a) => { a.tabIndex = -1; }); e.target.tabIndex = 0; }
    }));
    $$(".matrix").forEach((t) => { const first = $("a.box", t); if (first) first.tabIndex = 0; });
    return (f, s) => used.forEach((b) => fill(run, b, f, s));
  }

  function moveFocus(e, table) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (!step || !e.target.matches("a.box")) return;
    e.preventDefault();
    const rows = $$("tbody tr", table).map((r) => $$(".box", r));
    let y = rows.findIndex((r) => r.includes(e.target)), x = rows[y].indexOf(e.target);
    for (;;) {
      y += step[0]; x += step[1];
      const to = rows[y] && rows[y][x];
      if (!to) return;
      if (to.matches("a.box")) { to.focus(); return; }
    }
  }

  // fill says what the cells of a box are: the worst class and how many have it.
  function fill(run, b, f, s) {
    const sum = new Array(run.words[0].length).fill(0);
    for (const c of b.columns) s.columns[c].forEach((n, k) => { sum[k] += n; });
    const names = run.words[0];
    const parts = sum.map((n, k) => n ? number(n) + " " + names[k] : "").filter(Boolean);
    let worst = sum.findIndex((n) => n > 0);
    const label = b.place + ": " + (parts.length ? parts.join(", ") : "no cells");
    b.link.replaceChildren();
    const count = worst >= 0 && worst < UNSUPPORTED ? " " + compact(sum[worst]) : "";
    if (worst === UNSUPPORTED && sum[PRESERVED]) worst = PRESERVED;
    b.link.className = "box " + (worst < 0 ? "none" : "c-" + names[worst]);
    if (worst >= 0) b.link.append(sign[names[worst]] + count);
    b.link.setAttribute("aria-label", label);
    b.link.title = label;
    const at = [[run.words[2][b.release]], [run.words[3][b.target]], [run.words[4][b.level]]];
    const on = at.every((w, i) => same(w, f.lists[2 + i]));
    const lists = f.lists.map((l, i) => i < 2 || i > 4 ? l : on ? [] : at[i - 2]);
    b.link.href = writeState({ ...f, lists, page: 1 });
    b.link.setAttribute("aria-current", on);
  }

  // ---- what changed: any two releases; without a choice the page's own pairs stay ----
  function changes(run) {
    const box = $("[data-changes]"), form = $("[data-pick]", box), own = $("[data-pairs]", box);
    const [left, right] = [form.elements.left, form.elements.right], names = run.words[2];
    const content = el("div", {});
    own.after(content);
    form.hidden = false;
    const choose = () => {
      const p = new URLSearchParams();
      p.set("left", left.value); p.set("right", right.value);
      location.hash = p.toString();
    };
    left.addEventListener("change", choose);
    right.addEventListener("change", choose);
    form.addEventListener("submit", (e) => e.preventDefault());
    const update = () => {
      const p = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
      const l = names.indexOf(p.get("left")), r = names.indexOf(p.get("right"));
      const chosen = l >= 0 && r >= 0;
      own.hidden = chosen;
      left.selectedIndex = chosen ? l : Math.max(0, names.length - 2);
      right.selectedIndex = chosen ? r : names.length - 1;
      if (chosen) showPair(run, content, compare(run, l, r), Math.max(1, parseInt(p.get("page"), 10) || 1)); else content.replaceChildren();
    };
    window.addEventListener("hashchange", update);
    update();
  }

  function changeOrder(from, to) {
    const worst = Math.min(from, to);
    if (from === UNSUPPORTED || to === UNSUPPORTED) return 30 + worst;
    return worst + (to < from ? 0 : to === from ? 10 : 20);
  }

  // compare does what the page's own comparisons do.
  function compare(run, left, right) {
    const [tc, target, level, layout] = run.columns, n = tc.length;
    const place = (c) => target[c] + "." + level[c] + "." + layout[c];
    const at = new Map();
    for (let c = 0; c < n; c++) if (tc[c] === left) at.set(place(c), c);
    const partner = new Int32Array(n).fill(-1), side = new Int8Array(n).fill(-1);
    for (let c = 0; c < n; c++) {
      if (tc[c] === left) side[c] = 0;
      if (tc[c] === right) side[c] = 1;
      if (tc[c] === right && at.has(place(c))) { partner[c] = at.get(place(c)); partner[partner[c]] = c; }
    }
    const d = { left, right, both: 0, cls: 0, says: 0, code: 0, only: [0, 0], targets: [new Set(), new Set()], alone: new Map(), changes: new Map() };
    const shared = new Set(), cellAt = new Int32Array(n).fill(-1);
    const says = (k) => run.kindGroup[k] < 0 ? -1 : run.groups[run.kindGroup[k]].s;
    const key = (k) => run.kindGroup[k] < 0 ? -1 - run.kindClass[k] : run.kindGroup[k];
    for (let t = 0; t < run.tests.length; t++) {
      for (let i = run.start[t]; i < run.start[t + 1]; i++) cellAt[run.column[i]] = i;
      for (let i = run.start[t]; i < run.start[t + 1]; i++) {
        const c = run.column[i];
        if (side[c] < 0) continue;
        if (partner[c] < 0 || cellAt[partner[c]] < 0) { d.only[side[c]]++; d.targets[side[c]].add(target[c]); continue; }
        if (side[c] === 0 && left !== right) continue;
        d.both++;
        shared.add(target[c]);
        const a = run.kind[cellAt[partner[c]]], b = run.kind[i], ca = run.kindClass[a], cb = run.kindClass[b];
        if (ca === cb && says(a) === says(b)) {
          if (run.kindCode[a] === run.kindCode[b]) continue;
          d.code++;
          const k = target[c] + "." + level[c];
          d.alone.set(k, (d.alone.get(k) || 0) + 1);
          continue;
        }
        if (ca === cb) d.says++; else d.cls++;
        const id = t + "." + key(a) + "." + key(b);
        if (!d.changes.has(id)) d.changes.set(id, { t, a, b, order: changeOrder(ca, cb), from: key(a), to: key(b), cells: [] });
        d.changes.get(id).cells.push(i);
      }
      for (let i = run.start[t]; i < run.start[t + 1]; i++) cellAt[run.column[i]] = -1;
    }
    d.targets = d.targets.map((s) => run.words[3].filter((_, i) => s.has(i) && !shared.has(i)).join(", "));
    d.list = Array.from(d.changes.values()).sort((x, y) => x.order - y.order || x.t - y.t || x.from - y.from || x.to - y.to);
    return d;
  }

  const differ = (n) => n === 1 ? "1 differs" : number(n) + " differ";
  function summary(run, d) {
    if (!d.both) return "No cell is in both.";
    let out = `Of ${plural(d.both, "cell")} in both, ${differ(d.cls)} in class, ${differ(d.says)} in what was found and ${differ(d.code)} in machine code alone.`;
    if (!(d.cls + d.says + d.code)) out = plural(d.both, "cell") + " in both, and no difference.";
    [d.left, d.right].forEach((r, s) => {
      if (!d.only[s]) return;
      out += ` ${plural(d.only[s], "cell")} only with ${run.words[2][r]}` + (d.targets[s] ? ", among them all of " + d.targets[s] : "") + ".";
    });
    return out;
  }

  function showPair(run, content, d, page) {
    const names = run.words[2], per = 100, pages = Math.max(1, Math.ceil(d.list.length / per));
    page = Math.min(page, pages);
    const side = (k) => {
      const g = run.kindGroup[k], mark = classMark(run.words[0][run.kindClass[k]]);
      return g < 0 ? mark : el("a", { class: "plain", href: "f/" + run.groups[g].i + ".html" }, mark);
    };
    const found = (k) => {
      const g = run.groups[run.kindGroup[k]], words = g ? g.findings.map((f) => `${f.rule} ${f.at}`) : [];
      if (g && g.m) words.push(number(g.m) + " more");
      return words.join(", ") || (g && g.reason) || run.words[0][run.kindClass[k]];
    };
    const became = (c) => found(c.a) !== found(c.b) ? found(c.b) : run.kindClass[c.a] === run.kindClass[c.b] ? "the same with other outcomes" : "the same";
    const section = el("section", {}, el("h2", {}, names[d.left] + " → " + names[d.right]), el("p", { class: "summary" }, summary(run, d)));
    if (d.list.length) {
      const body = el("tbody", {});
      for (const c of d.list.slice((page - 1) * per, page * per)) {
        const g = run.kindGroup[c.b] >= 0 ? run.kindGroup[c.b] : run.kindGroup[c.a];
        body.append(el("tr", {}, el("td", { class: "r-class" }, side(c.a), " ", el("span", { class: "to", "aria-label": "became" }, "→"), " ", side(c.b)),
          el("td", { class: "r-test" }, g >= 0 ? el("a", { href: "f/" + run.groups[g].i + ".html" }, run.tests[c.t]) : el("b", {}, run.tests[c.t]), el("p", {}, found(c.a) + " → " + became(c))),
          el("td", { class: "r-where" }, where(run, c.cells)[1]), el("td", { class: "num r-cells" }, number(c.cells.length))));
      }
      const heads = ["Class", "Test and what was found", "Where"].map((h) => el("th", { scope: "col" }, h));
      section.append(el("table", { class: "findings changes" }, el("thead", {}, el("tr", {}, ...heads, el("th", { scope: "col", class: "num" }, "Cells"))), body));
    }
    if (pages > 1) {
      const to = (n, text) => {
        const p = new URLSearchParams({ left: names[d.left], right: names[d.right], page: n });
        return n < 1 || n > pages ? el("span", { class: "muted" }, text) : el("a", { href: "#" + p }, text);
      };
      section.append(el("nav", { class: "pager no-print", "aria-label": "Pages of the list" }, to(page - 1, "← previous"), el("span", {}, `page ${page} of ${pages}`), to(page + 1, "next →")));
    }
    const codes = $(`[data-pair="${d.left}.${d.right}"] .code-changes`);
    if (codes) section.append(codes.cloneNode(true));
    else if (d.code) section.append(el("p", { class: "small" }, "Which instructions changed: ", el("code", {}, `optcheck diff FILE --left "${names[d.left]}" --right "${names[d.right]}"`)));
    if (d.code && run.words[4].length <= 40) {
      const levels = run.words[4], body = el("tbody", {});
      run.words[3].forEach((t, i) => {
        const counts = levels.map((_, l) => d.alone.get(i + "." + l) || 0);
        if (counts.some(Boolean)) body.append(el("tr", {}, el("th", { scope: "row" }, t), ...counts.map((n) => el("td", { class: "num" }, n ? number(n) : ""))));
      });
      section.append(el("details", {}, el("summary", {}, `Machine code alone: ${number(d.code)} cells`),
        el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Cells whose machine code alone differs" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Target"), ...levels.map((l) => el("th", { scope: "col", class: "num" }, l)))), body))));
    }
    content.replaceChildren(section);
  }

  // ---- pages whose rows can be chosen: data-row, with values joined by | ----
  function rowForms() {
    $$("form[data-rows]").forEach((form) => {
      const all = document.getElementById(form.dataset.rows), rows = $$("[data-row]", all), status = $("[role=status]", form);
      const has = (r, key, v) => key === "q" ? lower(v).split(/\s+/).every((w) => lower(r.textContent).includes(w)) : (r.dataset[key] || "").split("|").includes(v);
      const update = () => {
        const want = Array.from(new FormData(form)).filter(([, v]) => v !== "");
        let n = 0;
        rows.forEach((r) => { r.hidden = !want.every(([key, v]) => has(r, key, v)); n += r.hidden ? 0 : 1; });
        $$("[data-rows-of]", all).forEach((g) => { g.hidden = !$("[data-row]:not([hidden])", g); });
        status.textContent = `${number(n)} of ${number(rows.length)} shown`;
      };
      form.hidden = false;
      form.addEventListener("input", update);
      form.addEventListener("submit", (e) => e.preventDefault());
      update();
    });
  }

  // What a link leads to must be seen: what holds it opens.
  function openTarget() {
    const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let d = at && at.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
  }

  document.addEventListener("DOMContentLoaded", () => {
    themeToggle();
    skipLink();
    rowForms();
    openTarget();
    window.addEventListener("hashchange", openTarget);
    if (typeof optcheckData === "undefined") return;
    const run = unpack(optcheckData);
    if ($("[data-overview]")) overview(run);
    if ($("[data-changes]")) changes(run);
    root.dataset.ready = "yes";
  });
})();
