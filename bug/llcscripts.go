package bug

import (
	"fmt"
	"strings"

	"optcheck/toolchain"
)

// args returns llc's command line for the program, in words.
func (b *llcRoad) args() []string {
	return append([]string{"llc"}, b.f.Toolchain.ArgsIR(b.f.Target, b.f.Level, "min.ll", "min.ptx")...)
}

// command returns llc's command line for the program.
func (b *llcRoad) command() string { return strings.Join(b.args(), " ") }

// makefile reproduces the finding with llc alone.
func (b *llcRoad) makefile() string {
	words := b.args()[1:]
	for i, a := range words {
		switch a {
		case "-mcpu=" + b.f.Target:
			words[i] = "-mcpu=$(CPU)"
		case "-" + b.f.Level:
			words[i] = "$(OPT)"
		case "min.ptx":
			words[i] = "$@"
		}
	}
	return fmt.Sprintf(`# Reproduces the finding with llc and awk alone, in this folder:
#
#   make LLC=/path/to/llc
#
# Exit status 0: reproduced. Found with %s (%s).
LLC      ?= llc
CPU      ?= %s
OPT      ?= -%s

.PHONY: check min.ptx versions clean

check: min.ptx
	@awk -f check.awk min.ptx

min.ptx: min.ll
	$(LLC) %s

versions:
	$(LLC) --version

clean:
	rm -f min.ptx
`, oneLine(b.compiler()), oneLine(b.f.Toolchain.Kind.(*toolchain.LLC).Build), b.f.Target, b.f.Level, strings.Join(words, " "))
}

// awk returns the script that reads the PTX of one kernel. If the finding is that an access has
// lost its order or scope, the script looks for them in any form; else it compares lists.
func (b *llcRoad) awk() string {
	var rules strings.Builder
	for _, c := range classesPTX {
		fmt.Fprintf(&rules, "\tclasses[%q] = %q\n", c.op, c.class)
	}
	head, end := `# Tells whether the PTX of one kernel has the finding: it lists in order what of the
# kernel touches memory or orders it, stores of results too, `, ""
	if o := b.ordering(); o != nil {
		var shape []string
		for _, a := range b.bad.lines {
			if !fenceClass(a.class) {
				shape = append(shape, a.class)
			}
		}
		head += fmt.Sprintf(`and looks for the order of
# one access: its own qualifiers, or fences beside it.
# Exit status: 0 reproduced, 1 not reproduced, 2 the kernel has other accesses.
BEGIN {
	kernel = "%s"
	view = "mnemonic"
	shape = "%s"  # its accesses, fences left out
	at = %d  # the number of the access among them
	want = "%s"  # what it must be; strong: the scope alone
	least = %d  # its scope, as ranked below
	rank["cta"] = 1; rank["cluster"] = 2; rank["gpu"] = rank["gl"] = 3; rank["sys"] = 4
	n = split("weak volatile relaxed acquire release acq_rel sc mmio", list, " "); for (i = 1; i <= n; i++) sems[list[i]] = 1
`, kernel(b.find.Thread), strings.Join(shape, " | "), o.at, o.want, o.least)
		end = awkOrder
	} else {
		how, bad, good := b.awkLists()
		head += fmt.Sprintf(`and compares the list.
# Exit status: 0 reproduced, 1 not reproduced, 2 neither of the two recorded lists.
BEGIN {
	kernel = "%s"
	view = "%s"  # class: ld, st, ...; mnemonic: with modifiers; text: with operands
	bad = "%s"
	good = "%s"
`, kernel(b.find.Thread), how, bad, good)
		end = strings.ReplaceAll(awkEnd, `"machine  "`, `"PTX      "`)
		end = strings.ReplaceAll(end, "machine code", "PTX")
	}
	return head + rules.String() + awkPTX + end
}

// awkPTX reads the lines of one entry.
const awkPTX = `}
{ sub(/\/\/.*/, ""); sub(/\r$/, "") }
/\.entry / { inside = index($0, ".entry " kernel "(") > 0; seen += inside; next }
/^}/ { inside = 0 }
inside {
	text = $0
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ ?; ?$/, "", text)
	sub(/^@[^ ]+ /, "", text)
	split(text, word, " ")
	m = word[1]
	op = m
	sub(/\..*/, "", op)
	class = classes[op]
	if (class == "" || m ~ /^ld\.param/) next
`

// awkOrder ends the script that looks for an order. It determines what an access or fence
// orders, and for whom, as audit does.
const awkOrder = `	ops[++count] = op; kinds[count] = class; mnemonics[count] = m; texts[count] = text
	sem[count] = scope[count] = ""
	n = split(m, part, ".")
	for (i = 2; i <= n; i++) {
		sub(/::.*/, "", part[i])
		if (part[i] in sems && sem[count] != "mmio") sem[count] = part[i]
		if (part[i] in rank) scope[count] = part[i]
	}
	found = found (found == "" ? "" : " | ") m
	if (class != "FENCE" && class != "BAR") {
		accesses = accesses (accesses == "" ? "" : " | ") class
		if (++number == at) place = count
	}
}
# An atomic without a scope is for the GPU; volatile is for the system.
function scope_of(i) {
	if (sem[i] == "volatile" || sem[i] == "mmio") return 4
	if (scope[i] == "" && (ops[i] == "atom" || ops[i] == "red")) return 3
	return rank[scope[i]] + 0
}
function releases(i) { return (ops[i] == "membar" || sem[i] ~ /^(release|acq_rel|sc)$/) && scope_of(i) >= least }
function acquires(i) { return (ops[i] == "membar" || sem[i] ~ /^(acquire|acq_rel|sc)$/) && scope_of(i) >= least }
function strong(i) { return (ops[i] == "atom" || ops[i] == "red" || sem[i] != "" && sem[i] != "weak") && scope_of(i) >= least }
END {
	if (!seen) { print "kernel " kernel " is not in the PTX"; exit 2 }
	print "kernel   " kernel
	print "PTX      " found
	if (accesses != shape) { print "expected " shape; print "NOT REPRODUCED: the accesses are others; compare by hand"; exit 2 }
	print "access   " texts[place] ";"
	release = releases(place)
	acquire = acquires(place)
	for (i = place - 1; i > 0 && kinds[i] ~ /^(FENCE|BAR)$/; i--) if (releases(i)) release = 1
	for (i = place + 1; i <= count && kinds[i] ~ /^(FENCE|BAR)$/; i++) if (acquires(i)) acquire = 1
	if (want == "strong") ok = strong(place)
	else ok = (want == "acquire" || release) && (want == "release" || acquire)
	if (ok) { print "NOT REPRODUCED: the access is as strong as written, or has a fence beside it"; exit 1 }
	print "REPRODUCED: what the access must be is lost: " want
	exit 0
}
`

func (b *llcRoad) compiler() string { return "llc " + b.f.Toolchain.Compilers()[0].Version }

func (b *llcRoad) words() words {
	w := words{program: "min.ll", bad: "bad.ptx", good: "good.ptx", diff: "ptx.diff", dump: "llc", make: "make LLC=…", tools: "llc and awk",
		source: "The same as LLVM IR (" + fileSpan(
			"min.ll",
		) + "), one kernel per thread. " + opaque + "the volatile stores at the end only keep results alive.",
		code: "PTX", compiled: "The machine code that ptxas " + b.f.Toolchain.Version + " makes of it", note: irNote}
	if b.prog.markers {
		w.source += " Constants are mixed into them that say which access each is of: without them the finding is not there."
	}
	return w
}

// versions names both compilers: the verdict is that of the machine code.
func (b *llcRoad) versions() string {
	tc := b.f.Toolchain
	var out strings.Builder
	out.WriteString("| tool | version | build |\n|---|---|---|\n")
	fmt.Fprintf(&out, "| llc | %s | %s |\n", md(tc.Kind.(*toolchain.LLC).Version), md(tc.Kind.(*toolchain.LLC).Build))
	fmt.Fprintf(&out, "| ptxas, for the verdict only | %s | %s |\n| optcheck | %s | |\n", md(tc.Version),
		md(strings.TrimPrefix(tc.Build, tc.Kind.(*toolchain.LLC).Build+" + ")), md(b.in.Tool))
	if b.good != nil && b.good.tc.Kind.(*toolchain.LLC).Path != tc.Kind.(*toolchain.LLC).Path {
		fmt.Fprintf(&out, "| llc, for comparison | %s | %s |\n", md(b.good.tc.Kind.(*toolchain.LLC).Version),
			md(b.good.tc.Kind.(*toolchain.LLC).Build))
	}
	return out.String()
}

// compiler names ptxas alone: the PTX is the input.
func (b *irRoad) compiler() string { return "ptxas " + b.f.Toolchain.Version }

func (b *irRoad) words() words {
	w := b.ptxRoad.words()
	w.note = irNote
	w.source = "The same as PTX (" + fileSpan(
		"min.ptx",
	) + "), one entry per thread: what llc " + b.f.Toolchain.Compilers()[0].Version + " writes of the LLVM IR in " + fileSpan(
		"min.ll",
	) + " (" +
		span(
			b.prog.llc,
		) + "), in which the finding is not yet there. " + opaque + "the stores to which .cs was given only keep results alive."
	return w
}

// versions also names the compiler that wrote the PTX.
func (b *irRoad) versions() string {
	tc := b.f.Toolchain
	s := b.ptxRoad.versions()
	return strings.Replace(s, "| nvdisasm |", fmt.Sprintf("| llc, which wrote the PTX | %s | %s | |\n| nvdisasm |",
		md(tc.Kind.(*toolchain.LLC).Version), md(tc.Kind.(*toolchain.LLC).Build)), 1)
}
