package bug

import (
	"fmt"
	"path/filepath"
	"strings"
)

// arguments returns the arguments of the compiler for the program; libclc's file is called lib.
func (b *clRoad) arguments(lib string) []string {
	return b.line().Args(b.job(b.prog, b.f.Level), b.words().program, "min.s", lib)
}

// libclcName returns the name of the file of libclc that the program needs, "" for none.
func (b *clRoad) libclcName() string {
	if b.prog.library == "" {
		return ""
	}
	return filepath.Base(b.prog.library)
}

// command returns the compiler's command line for the program.
func (b *clRoad) command() string { return commandLine(b.args()) }

func (b *clRoad) args() []string {
	return append([]string{b.line().Tool()}, b.arguments(b.libclcName())...)
}

// makefile reproduces the finding with clang, or llc, alone.
func (b *clRoad) makefile() string {
	var words []string
	vars := map[string]string{"\x00": "$(LIBCLC)", "-" + b.f.Level: "$(OPT)", "-mcpu=" + b.f.Target: "-mcpu=$(CPU)"}
	for _, a := range b.arguments("\x00") {
		if v := vars[a]; v != "" {
			words = append(words, v)
			delete(vars, a)
			continue
		}
		words = append(words, makeWords([]string{a}))
	}
	need, lib := "", ""
	if n := b.libclcName(); n != "" {
		need = " LIBCLC=/path/to/" + n
		lib = "\n# The library of OpenCL C's functions, of the same release.\nLIBCLC   ?= " + n
	}
	tool := b.line().Tool()
	name := strings.ToUpper(tool)
	return fmt.Sprintf(`# Reproduces the finding with %s and awk alone, in this folder:
#
#   make %s=/path/to/%s%s
#
# Exit status 0: reproduced. Found with %s (%s).
%-8s ?= %s
CPU      ?= %s
OPT      ?= -%s%s

.PHONY: check min.s versions clean

check: min.s
	@awk -f check.awk min.s

min.s: %s
	$(%s) %s

versions:
	$(%s) --version

clean:
	rm -f min.s
`, tool, name, tool, need, oneLine(b.compiler()), oneLine(b.f.Toolchain.Build), name, tool, b.f.Target, b.f.Level, lib,
		b.words().program, name, strings.Join(words, " "), name)
}

// awk returns the script that looks at what touches or orders memory in the kernel.
func (b *clRoad) awk() string {
	how, bad, good := b.awkLists()
	var rules strings.Builder
	for _, c := range classesCL {
		fmt.Fprintf(&rules, "\tif (text ~ /%s/) return \"%s\"\n", c.pattern, c.class)
	}
	return fmt.Sprintf(`# Tells whether the machine code of one kernel, printed by clang -S or llc, has the finding:
# it lists in order what of the kernel touches memory or orders it, loads of
# arguments and stores of results too, and compares the list.
# Exit status: 0 reproduced, 1 not reproduced, 2 neither of the two recorded lists.
function class_of(text) {
%s	return ""
}
BEGIN {
	kernel = "%s"
	view = "%s"  # class: ld, st, ...; mnemonic: with cache policy, and waits; text: with operands
	bad = "%s"
	good = "%s"
}
{ sub(/;.*/, ""); sub(/\r$/, "") }
index($0, kernel ":") == 1 { inside = 1; seen = 1; next }
/^\.Lfunc_end/ { inside = 0 }
inside && NF {
	text = $1
	for (i = 2; i <= NF; i++) text = text " " $i
	class = class_of(text)
	if (class == "" || view == "class" && class == "WAIT") next
	m = $1
	for (i = 2; i <= NF; i++)
		if (class == "WAIT" || $i ~ /^(glc|slc|dlc|scc|sc0|sc1|nt|nv|scope:.*|th:.*)$/) m = m " " $i
`, rules.String(), kernel(b.find.Thread), how, bad, good) + awkEnd
}
