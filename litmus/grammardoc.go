package litmus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AppendGrammar appends the tables of instructions as a page in Markdown: what the dialects
// have, since which version of PTX and on which targets.
func AppendGrammar(b []byte) []byte {
	b = append(b, grammarIntro...)
	section := func(title, text string) {
		b = fmt.Appendf(b, "\n## %s\n%s", title, text)
	}
	section("Accesses", "")
	b = appendForms(b, accessForms, GPUPTX)
	section("Fences and barriers", barrierText)
	b = appendForms(b, fenceForms, GPUPTX)
	section("Instructions without memory access", plainText)
	b = appendForms(b, plainForms, GPUPTX)
	section("Versions and targets", sinceText)
	b = append(b, "\n| instructions | PTX | target |\n|---|---|---|\n"...)
	for i := range sinceTable {
		s := &sinceTable[i]
		in := "`" + opNamesOf(s.ops) + "`"
		if p := s.pattern(); p != "" {
			in += " with " + p
		}
		b = fmt.Appendf(b, "| %s | %d.%d | sm_%d |\n", in, s.ptx/10, s.ptx%10, s.sm)
	}
	section("Only in memory models", formalText)
	b = appendForms(b, formalForms, PTX)
	section("Asynchronous operations, mbarriers, clusters, warps", asyncText)
	b = appendAsyncForms(b)
	section("Vectors, 128 bits, non-coherent loads, floating point", wordText)
	b = appendWords(b)
	section("OpenCL C", clText)
	b = appendForms(b, clForms, OpenCL)
	section("PTX that litmus tests lack", "")
	words := slices.Sorted(maps.Keys(beyond))
	for _, w := range words {
		b = fmt.Appendf(b, "- `.%s`: %s\n", w, beyond[w])
	}
	return b
}

// appendAsyncForms lists the asynchronous operations.
func appendAsyncForms(b []byte) []byte {
	b = append(b, "| form | PTX | target |\n|---|---|---|\n"...)
	words := map[rune]string{'d': "r", 'a': "[x]", 's': "n", 'v': "{n, …}", 'p': "p"}
	for i := range asyncForms {
		f := &asyncForms[i]
		sep, end := " ", ""
		line := f.Name
		for _, c := range f.Operands {
			if c == '?' {
				line, end = line+"{", "}"
				continue
			}
			word := words[c]
			if c == 'v' && f.Vector < 2 {
				word = "v"
			}
			if line, sep = line+sep+word, ", "; c == 'd' && f.To == Pred {
				line = line[:len(line)-1] + "p"
			}
		}
		b = fmt.Appendf(b, "| `%s%s` | %d.%d | sm_%d |\n", line, end, f.PTX/10, f.PTX%10, f.SM)
	}
	return b
}

// appendWords lists the accesses that are fixed words, in one row those that differ in order and scope alone.
func appendWords(b []byte) []byte {
	b = append(b, "| form | orders | spaces | PTX | target |\n|---|---|---|---|---|\n"...)
	type row struct{ form, orders, spaces, since string }
	var rows []row
	for i := range wordTable {
		w := &wordTable[i]
		head, rest, _ := strings.Cut(w.Name, "{}")
		op, order, _ := strings.Cut(head, ".")
		if w.Multi { // multimem.red, and then the order
			kind, after, _ := strings.Cut(order, ".")
			op, order = op+"."+kind, after
		}
		order, _, _ = strings.Cut(order, ".")
		r := row{form: op + rest, orders: order, since: fmt.Sprintf("%d.%d | sm_%d", w.PTX/10, w.PTX%10, max(w.SM, 20))}
		for _, s := range w.Spaces {
			if s != Generic {
				r.spaces = strings.TrimPrefix(r.spaces+", "+s.String(), ", ")
			}
		}
		if r.orders == "" {
			r.orders = "none"
		}
		k := slices.IndexFunc(rows, func(x row) bool { return x.form == r.form && x.spaces == r.spaces && x.since == r.since })
		if k < 0 {
			rows = append(rows, r)
		} else if !slices.Contains(strings.Split(rows[k].orders, ", "), r.orders) {
			rows[k].orders += ", " + r.orders
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.form, b.form) })
	for _, r := range rows {
		b = fmt.Appendf(b, "| `%s` | %s | %s | %s |\n", r.form, r.orders, r.spaces, r.since)
	}
	return b
}

func opNamesOf(ops []Op) string {
	var names []string
	for _, op := range ops {
		names = append(names, op.String())
	}
	return strings.Join(names, " ")
}

// pattern names the values that a row of sinceTable applies to.
func (s *since) pattern() string {
	var parts []string
	for d, row := range s.array() {
		if list := row.list(); len(list) > 0 {
			parts = append(parts, "`"+strings.ReplaceAll(words(s.ops[0], dim(d), row), " or ", ", ")+"`")
		}
	}
	return strings.Join(parts, " and ")
}

// appendForms appends a code block for each section of the manual.
func appendForms(b []byte, forms []form, d Dialect) []byte {
	last := ""
	for i := range forms {
		f := &forms[i]
		if f.source != last {
			if last != "" {
				b = append(b, "```\n"...)
			}
			b = fmt.Appendf(b, "\n%s\n```\n", f.source)
			last = f.source
		}
		for _, op := range f.ops {
			for _, line := range f.syntax(op, d) {
				b = append(append(b, line...), '\n')
			}
		}
	}
	return append(b, "```\n"...)
}

// syntax formats the form for one operation as manuals do: (.a|.b) is one of them, {.a|.b} one
// of them or none.
func (f *form) syntax(op Op, d Dialect) (lines []string) {
	row := f.array()
	for _, oc := range opcodesOf[op] {
		proxy := op == OpFenceProxy || oc.proxy == ProxyNone && row[dimProxy] == 0 || row[dimProxy].has(uint8(oc.proxy)) && oc.proxy != ProxyNone
		if !proxy || !oc.in(d) || oc.name == "barrier" {
			continue
		}
		var b strings.Builder
		b.WriteString(oc.name)
		for _, cl := range oc.mods {
			i, ok := cl.dim()
			if !ok {
				b.WriteString(".lo")
			} else {
				b.WriteString(choice(op, i, row[i]))
			}
		}
		if op == OpFenceProxy {
			b.WriteString(choice(op, dimProxy, row[dimProxy]))
		}
		if op == OpBar && d == OpenCL {
			lines = append(lines, "barrier(flags)")
			continue
		}
		if op == OpBar {
			lines = append(lines, oc.name+"{.cta}.sync number{, threads}", oc.name+"{.cta}.arrive number, threads",
				"barrier{.cta}.(sync|arrive).aligned …")
			continue
		}
		operands := strings.Split(oc.operands, "")
		for i, o := range operands {
			operands[i] = map[string]string{"d": "r", "a": "[x]", "s": "v", "l": "label"}[o]
		}
		lines = append(lines, strings.TrimSpace(b.String()+" "+strings.Join(operands, ", ")))
	}
	return lines
}

func choice(op Op, d dim, s set) string {
	var list []string
	for _, v := range s.list() {
		list = append(list, "."+valueName(op, d, v))
	}
	if d == dimSem {
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], ".mmio", ".mmio.relaxed")
		}
	}
	switch text := strings.Join(list, "|"); {
	case d == dimType && s == integers:
		return "{.INT}"
	case len(list) == 0:
		return ""
	case s.has(0):
		return "{" + text + "}"
	case len(list) == 1:
		return text
	default:
		return "(" + text + ")"
	}
}

const grammarIntro = `# Instructions of litmus tests

This page is printed by ` + "`optcheck explain --instructions`" + ` from the table that the parser, the printer, the emitters and the error messages use. A test compares
the table with the installed compilers: it contains exactly what ptxas 12.4 accepts, and marks what is newer. Sources are sections of the PTX ISA
manual, release 8.6.

In a form, ` + "`(.a|.b)`" + ` means one of them and ` + "`{.a|.b}`" + ` one of them or none; ` + "`r`" + ` is a register, ` + "`[x]`" + ` an address, ` + "`v`" + ` a register or a constant, ` + "`.INT`" + `
one of ` + "`.b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64`" + `. Litmus tests have
more freedom than the forms show: modifiers may be in any order (only ` + "`.lo`" + ` and ` + "`.proxy`" + ` come first, as for ptxas), ` + "`.shared::cta`" + ` is ` + "`.shared`" + `, and the type may be
omitted, which means 32 bits. No other spelling is accepted: ` + "`membar.gpu`" + `, ` + "`ld.weak.gpu`" + ` or ` + "`fence.relaxed.gpu`" + ` are errors, as for ptxas.
`

const barrierText = `
A fence without an order is ` + "`.acq_rel`" + `; ptxas compiles both to the same code. Barriers are numbered 0 to 15, and count threads in multiples of 32. ` + "`barrier`" + ` needs
` + "`.aligned`" + `: without it, it is a different instruction, which litmus tests do not have.
`

const plainText = `
` + "`beq r, v, label`" + ` and the like exist only in litmus tests: a kernel has setp and bra instead. ` + "`.lo .ls .hi .hs`" + ` of setp are ` + "`.lt .le .gt .ge`" + ` for unsigned numbers.
`

const sinceText = `
An audit reports what a target or a release of the compiler lacks as ` + "`unsupported`" + `, with the reason. Versions from 5.0 and targets from sm_20 have everything
that is not listed. Accesses of 8 and 16 bits are of audits of PTX; no form runs on devices.
`

const formalText = `
Dialect ` + "`PTX`" + ` also has what the vendor's formal model and Dat3M write; it can be judged but not compiled. There, ` + "`bar.cta.sync id, barrier, quorum`" + `
has a name, a number and a count of the test's threads; ` + "`bar.sync 0, 64`" + ` is PTX's. ` + "`ld r0, 1`" + ` without modifiers sets a register, and ` + "`goto`" + ` is ` + "`bra`" + `.
`

const asyncText = `
Models judge these ([ptx-async](../models.md)); no kernel in audit form has them. A test of ptxas 11.2 to 12.4 holds versions and targets to this table. The initial value of an
mbarrier's location is the number of arrivals that each of its phases expects: ` + "`mbarrier.init`" + ` has been. Addresses are locations, or registers that always hold one.

What threads perform together (` + "`bar.red`" + ` and the operations of warps) is under no condition. A thread's lane is its number among the threads of its warp, in the order of the test;
the mask names the own lane. ` + "`elect.sync`" + ` has its predicate alone, without ` + "`_|`" + `, since ` + "`|`" + ` stands between threads.

`

const wordText = `
These are fixed words, with order, scope and state space behind the name of the operation: ` + "`ld.acquire.gpu.global.v2.u32 {r0,r1}, [x]`" + `. Models but ` + "`ptx-async`" + ` have none of
them, and a kernel with one carries no markers. The elements of a vector are accessed in no order; two registers of ` + "`.b128`" + ` are one access. Versions and targets
rise with scopes: rows are by them. Asynchronous stores and reductions are in the table above.

`

const clText = `
Dialect ` + "`GPU_OPENCL`" + ` writes these as C does: ` + "`ld.acquire.gpu`" + ` is ` + "`atomic_load_explicit(x, memory_order_acquire, memory_scope_device)`" + `, ` + "`atom.inc1`" + ` is ` + "`atomic_inc`" + `,
a fence without a scope ` + "`mem_fence`" + ` and the like. Instructions that do not access memory are those of PTX.
`
