package bug

import (
	"fmt"
	"strings"

	"optcheck/toolchain"
)

// recipe is how a program in PTX becomes machine code.
type recipe struct {
	tc            *toolchain.Toolchain
	target, level string
	flags         []string
	extent        extent
}

func (b *ptxRoad) recipe() recipe {
	return recipe{b.f.Toolchain, b.f.Target, b.f.Level, b.f.Flags, b.extent()}
}

// listing are the flags with which nvdisasm prints what is compared.
func (r recipe) listing() string {
	if r.extent == controlled {
		return "-c -hex"
	}
	return "-c"
}

func (b *ptxRoad) makefile() string { return b.recipe().makefile() }

// command returns the compiler's command line for the smallest program.
func (b *ptxRoad) command() string { return b.recipe().command() }

func (b *ptxRoad) args() []string { return b.recipe().args() }

func (r recipe) args() []string {
	return append(append([]string{"ptxas", "-arch=" + r.target, "-" + r.level}, r.flags...), "min.ptx", "-o", "min.cubin")
}

func (r recipe) command() string { return commandLine(r.args()) }

// commandLine quotes words for the shell where that is necessary.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shell(w)
	}
	return strings.Join(quoted, " ")
}

// makefile reproduces the finding with ptxas and nvdisasm alone.
func (r recipe) makefile() string {
	var m strings.Builder
	fmt.Fprintf(&m, `# Reproduces the finding with ptxas and nvdisasm alone, in this folder:
#
#   make PTXAS=/path/to/ptxas NVDISASM=/path/to/nvdisasm
#
# Exit status 0: reproduced. Found with %s (%s).
PTXAS    ?= ptxas
NVDISASM ?= nvdisasm
ARCH     ?= %s
OPT      ?= -%s
FLAGS    ?= %s

.PHONY: check min.cubin min.sass versions clean

check: min.sass
	@awk -f check.awk min.sass

min.sass: min.cubin
	$(NVDISASM) %s min.cubin > $@.tmp
	@mv $@.tmp $@

min.cubin: min.ptx
	$(PTXAS) -arch=$(ARCH) $(OPT) $(FLAGS) min.ptx -o $@

versions:
	$(PTXAS) --version
	$(NVDISASM) --version

clean:
	rm -f min.cubin min.sass min.sass.tmp
`, oneLine(r.tc.ID), oneLine(r.tc.Build), r.target, r.level, makeWords(r.flags), r.listing())
	return m.String()
}

// makeWords formats words for the shell as the value of a make variable.
func makeWords(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, strings.NewReplacer("$", "$$", "#", `\#`).Replace(shell(oneLine(w))))
	}
	return strings.Join(out, " ")
}

// oneLine makes a text safe in a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// awk returns the script that examines the accesses of one kernel and says whether they are
// those of the finding.
func (b *ptxRoad) awk() string {
	how, bad, good := b.awkLists()
	return judge(kernel(b.find.Thread), how, bad, good, b.prog.ambiguous, b.extent())
}

// judge returns a script that compares the accesses of a kernel, in one of the views, with those
// of bad and good code. ambiguous says that stores with .cs are not those of results, all that every instruction counts.
func judge(kernel, how, bad, good string, ambiguous bool, of extent) string {
	results := `class == "ST" && m ~ /\.(CS|EF)/`
	if ambiguous {
		results = "0"
	}
	left, end := `class == "" || (`+results+")", awkEnd
	switch of {
	case instructions:
		left = `m == "" || m == "NOP"`
	case controlled:
		left = `m == ""`
		end = awkControl + strings.NewReplacer("the accesses are as written", "the control codes are those of correct code",
			"the accesses", "the instructions and their control codes").Replace(awkEnd)
	}
	return fmt.Sprintf(`# Tells whether the machine code of one kernel, printed by nvdisasm %s, has the
# finding: it lists the %s of the kernel in order, leaving out
# the stores (.cs) that only keep results alive, and compares the list.
# Exit status: 0 reproduced, 1 not reproduced, 2 neither of the two recorded lists.
BEGIN {
	kernel = "%s"
	view = "%s"  # class: ld, st, ...; mnemonic: with modifiers; text: with operands
	bad = "%s"
	good = "%s"
	n = split("LD LDG LDS LDSLK", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "LD"
	n = split("ST STG STS STSCUL", list, " ");        for (i = 1; i <= n; i++) classes[list[i]] = "ST"
	n = split("ATOM ATOMG ATOMS", list, " ");         for (i = 1; i <= n; i++) classes[list[i]] = "ATOM"
	n = split("RED REDG", list, " ");                 for (i = 1; i <= n; i++) classes[list[i]] = "RED"
	n = split("MEMBAR FENCE", list, " ");             for (i = 1; i <= n; i++) classes[list[i]] = "MEMBAR"
	n = split("SYNCS ARRIVES", list, " ");            for (i = 1; i <= n; i++) classes[list[i]] = "MBAR"
	n = split("LDGSTS UBLKCP", list, " ");            for (i = 1; i <= n; i++) classes[list[i]] = "COPY"
	n = split("LDGDEPBAR UTMACMDFLUSH", list, " ");   for (i = 1; i <= n; i++) classes[list[i]] = "GROUP"
	n = split("BAR UCGABAR_ARV UCGABAR_WAIT", list, " "); for (i = 1; i <= n; i++) classes[list[i]] = "BAR"
	classes["CCTL"] = "AUX"
}
/^\.text\./ { inside = ($1 == ".text." kernel ":"); seen += inside; next }
/^[ \t]*\.section/ { inside = 0 }
inside && match($0, /^[ \t]*\/\*[0-9a-f]+\*\//) {
	text = substr($0, RSTART + RLENGTH)
	gsub(/[{};]/, " ", text)
	sub(/^[ \t]+/, "", text)
	sub(/^@!?[UPT0-9]+[ \t]+/, "", text)
	sub(/[ \t\r]+$/, "", text)
	gsub(/[ \t]+/, " ", text)
	split(text, word, " ")
	m = word[1]
	sub(/\.S$/, "", m)
	op = m
	sub(/\..*/, "", op)
	class = classes[op]
	if (%s) next
	if (view == "class" && class == "AUX") next
`, recipe{extent: of}.listing(), of, kernel, how, bad, good, left) + end
}

// awkControl keeps an instruction until the next line has told its control code.
const awkControl = `	held = text
	sub(/ *\/\*.*/, "", held)
	next
}
function board(n) { return n == 7 ? "-" : n }
# control decodes the digits in front of the upper half of an encoding: the scoreboards
# that the instruction waits for, those that tell that it has read and written, and
# how many cycles later the next instruction may issue.
function control(digits,   v, i, wait, s) {
	for (i = 1; i <= 6; i++) v = 16 * v + index("0123456789abcdef", substr(digits, i, 1)) - 1
	v = int(v / 2) % 2097152
	wait = int(v / 2048)
	s = "B"
	for (i = 0; i < 6; i++) { s = s (wait % 2 ? i : "-"); wait = int(wait / 2) }
	return s ":R" board(int(v / 256) % 8) ":W" board(int(v / 32) % 8) (int(v / 16) % 2 ? ":-" : ":Y") sprintf(":S%02d", v % 16)
}
inside && held != "" && match($0, /^[ \t]*\/\* 0x/) {
	text = control(substr($0, RSTART + RLENGTH, 6)) "  " held
	held = ""
`

// awkEnd ends the scripts: it adds an instruction to the list, in the requested view, and
// compares the list with the recorded ones.
const awkEnd = `	item = view == "class" ? class : view == "mnemonic" ? m : text
	found = found (found == "" ? "" : " | ") item
}
END {
	if (!seen) { print "kernel " kernel " is not in the machine code"; exit 2 }
	print "kernel   " kernel
	print "machine  " found
	if (found == bad) { print "REPRODUCED: the accesses are those of the finding"; exit 0 }
	print "finding  " bad
	if (good != "") print "correct  " good
	if (good != "" && found == good) { print "NOT REPRODUCED: the accesses are as written"; exit 1 }
	print "NOT REPRODUCED: the accesses are others; compare by hand"
	exit 2
}
`

// awkLists returns what the scripts compare with: the view, and the recorded lists.
func (b *bundler) awkLists() (how, bad, good string) {
	how = b.view()
	switch {
	case b.good != nil:
		good = strings.Join(view(b.good.lines, how), " | ")
	case how == "class":
		if good = strings.Join(b.road.expected(), " | "); good == strings.Join(view(b.bad.lines, how), " | ") {
			good = "" // nothing distinguishes them
		}
	}
	return how, awkString(strings.Join(view(b.bad.lines, how), " | ")), awkString(good)
}

// awkString escapes a text for an awk string.
func awkString(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s))
}

// interesting returns the test for reducers: it calls optcheck.
func (b *bundler) interesting() string {
	args := []string{"reduce", "--check", "--quiet", "--rule", b.f.Signature.Rule, "--class", b.f.Signature.Class,
		"--toolchains", b.f.Toolchain.Versions(), "--targets", b.f.Target, "--levels", b.f.Level, "--layouts", b.f.Layout.String()}
	if b.f.Signature.Stage != "" {
		args = append(args, "--stage", b.f.Signature.Stage)
	}
	args = append(args, b.pipe.Flags()...)
	for _, f := range b.f.Flags { // a list value: commas and quotes have a meaning
		args = append(args, `--ptxas-flags="`+strings.ReplaceAll(f, `"`, `""`)+`"`)
	}
	if b.in.Audit.Model != "" {
		args = append(args, "--model", b.in.Audit.Model)
	}
	if b.in.Audit.NoVerdict {
		args = append(args, "--no-verdict")
	}
	return interesting("test.litmus", args)
}

// interesting is the script by which reducers of text ask whether a file in the current
// folder still shows the finding, which optcheck tells with these arguments.
func interesting(file string, args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shell(a)
	}
	return fmt.Sprintf(`#!/bin/sh
# Exit status 0 while %[1]s, in the current folder, shows the finding. For
# reducers of text: cvise ./interesting.sh %[1]s
# OPTCHECK names the program if it is not in the PATH.
exec "${OPTCHECK:-optcheck}" %[2]s %[1]s
`, file, strings.Join(quoted, " "))
}
