// The editor of the page to try things: CodeMirror in the place of a textarea, which keeps the text,
// so that the form is the same without it. Lines wear the colours that the machine code beside them
// has (a class, c0 to c7), and findings stand in the margin.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
  placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// words makes a language of what its tokens look like, the first that fits.
const words = (tokens) => StreamLanguage.define({
  startState: () => ({ inside: false }),
  token(stream, state) {
    if (state.inside) {
      state.inside = !stream.match(/^.*?(\*\/|\*\))/);
      if (state.inside) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^(\/\*|\(\*)/)) { state.inside = true; return "comment"; }
    for (const [pattern, name] of tokens) if (stream.match(pattern)) return name;
    stream.next();
    return null;
  },
});

const number = /^-?(0[xX][0-9a-fA-F]+|0[fFdD][0-9a-fA-F]+|\d+(\.\d+)?)\b/;
const opcode = /^(@!?%?\w+\s+)?(ld|st|atom|red|fence|membar|bar|barrier|mbarrier|cp|ldmatrix|stmatrix|mma|wgmma|wmma|mov|cvta?|add|sub|mul|mad|fma|div|rem|min|max|abs|neg|and|or|xor|not|shl|shr|shf|setp?|selp|slct|bra|brx|call|ret|exit|trap|vote|shfl|match|redux|activemask|elect|nanosleep|prefetch|discard|applypriority|createpolicy|isspacep|mapa|getctarank|lop3|prmt|bfe|bfi|bfind|brev|popc|clz|dp4a|dp2a|rcp|sqrt|rsqrt|sin|cos|ex2|lg2|tanh|copysign|testp|griddepcontrol|setmaxnreg|tex|tld4|suld|sust|sured|txq|suq|pmevent|alloca|stacksave|stackrestore|istypep|sad|addc|subc|madc|mul24|mad24|fns|bmsk|szext|cnot|nop)((\.|::)\w+)*(?=[\s;]|$)/;
const languages = {
  cuda: () => cpp(),
  ptx: () => words([[/^\/\/.*/, "comment"], [/^"([^"\\]|\\.)*"?/, "string"], [opcode, "keyword"], [/^\.\w+/, "typeName"], [/^[%$]\w+(\.\w)?/, "variableName"],
    [/^\w+:(?!:)/, "labelName"], [number, "number"], [/^\w+/, "name"]]),
  litmus: () => words([[/^(\/\/).*/, "comment"], [/^"[^"]*"?/, "string"], [/^(GPU_PTX|PTX|OPENCL|exists|forall|~exists|observed|locations|final|filter)\b/, "keyword"],
    [/^(ScopeTree|grid|cluster|cta|warp|wave|device|kernel|work_group|global|shared|local|const)\b/, "typeName"],
    [opcode, "keyword"], [/^(atomic_\w+|memory_\w+|mem_fence|barrier|kernel|while|if|else)\b/, "keyword"], [/^\.\w+/, "typeName"],
    [number, "number"], [/^%?[A-Za-z_]\w*/, "variableName"]]),
};

const paint = StateEffect.define();
const painted = StateField.define({
  create: () => Decoration.none,
  update(marks, tr) {
    marks = marks.map(tr.changes);
    for (const e of tr.effects) if (e.is(paint)) marks = e.value;
    return marks;
  },
  provide: (f) => EditorView.decorations.from(f),
});

// lines gives the lines of a text their classes: a map from numbers to classes.
function lines(state, classes) {
  const marks = [];
  for (const [n, name] of [...classes].sort((a, b) => a[0] - b[0])) {
    if (n >= 1 && n <= state.doc.lines) marks.push(Decoration.line({ class: name, attributes: { "data-at": String(n) } }).range(state.doc.line(n).from));
  }
  return RangeSet.of(marks);
}

// attach puts an editor in the place of a textarea. go is called for Ctrl-Enter; the style sheets
// of the editor carry the nonce.
function attach(text, { language, go, nonce }) {
  const label = text.labels[0]?.textContent || "text";
  const send = EditorView.updateListener.of((u) => { if (u.docChanged) text.value = u.state.doc.toString(); });
  const view = new EditorView({
    state: EditorState.create({
      doc: text.value,
      extensions: [lintGutter(), lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), bracketMatching(),
        highlightActiveLine(), highlightSelectionMatches(), search({ top: true }), indentUnit.of("  "),
        EditorState.tabSize.of(4), syntaxHighlighting(classHighlighter), placeholder(text.placeholder || ""), painted, send, EditorView.cspNonce.of(nonce),
        (languages[language] || languages.ptx)(),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => { go(); return true; } }])),
        keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap])],
    }),
  });
  text.hidden = true;
  text.after(view.dom);
  const place = (n, col) => {
    const l = view.state.doc.line(Math.min(Math.max(1, n), view.state.doc.lines));
    return Math.min(l.to, l.from + Math.max(0, col - 1));
  };
  return {
    view,
    // paint colours lines: classes by number.
    paint: (classes) => view.dispatch({ effects: paint.of(lines(view.state, classes)) }),
    // tell puts findings into the margin: {line, col, severity, message}.
    tell: (list) => view.dispatch(setDiagnostics(view.state, list.map((d) => {
      const from = place(d.line, d.col || 1);
      return { from, to: Math.max(from, view.state.doc.lineAt(from).to), severity: d.severity, message: d.message };
    }))),
    // show goes to a place.
    show(n, col, focus) {
      const at = place(n, col || 1);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      if (focus) view.focus();
    },
  };
}

window.optcheckEditor = { attach, of: (dom) => EditorView.findFromDOM(dom) };
