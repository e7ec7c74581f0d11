package bug

import (
	"fmt"
	"strings"
)

// words holds the names of a bundle's files and tools, which differ between compilers.
type words struct {
	program, bad, good, diff string // files
	dump                     string // the command that prints machine code
	make                     string // the command that reproduces the finding
	after                    string // further commands
	tools                    string
	source                   string // what the report says about the program
	code                     string // what is compared: machine code, PTX
	compiled                 string // what can end in an outcome, as the beginning of a sentence
	note                     string // how to read verdicts on it, "" if that is plain
}

func (b *ptxRoad) words() words {
	return words{"min.ptx", "bad.sass", "good.sass", "sass.diff", "nvdisasm " + b.recipe().listing(), "make PTXAS=… NVDISASM=…",
		"\nnvdisasm " + b.recipe().listing() + " min.cubin", "ptxas and nvdisasm",
		"The same as PTX (" + fileSpan(
			"min.ptx",
		) + "), one entry per thread. " + opaque + "the stores with .cs at the end only keep results alive.",
		"machine code", "The compiled program", ""}
}

// opaque begins a sentence about every program.
const opaque = "Values and addresses are parameters, so that the compiler cannot know them; "

func (b *clRoad) words() words {
	w := words{program: "min.cl", bad: "bad.s", good: "good.s", diff: "asm.diff", dump: "clang -S",
		make: "make CLANG=…", tools: "clang and awk",
		source: "Thread " + b.thread().Name + " of it as OpenCL C (" + fileSpan(
			"min.cl",
		) + "). " + opaque + "the volatile stores at the end only keep results alive.",
		code: "machine code", compiled: "The compiled program"}
	if b.ir {
		w.program, w.dump, w.make, w.tools = "min.ll", "llc", "make LLC=…", "llc and awk"
		w.source = strings.Replace(strings.Replace(w.source, "OpenCL C", "LLVM IR", 1), "min.cl", "min.ll", 2)
	}
	if b.prog.library != "" {
		w.make += " LIBCLC=…"
	}
	if b.prog.markers {
		w.source = strings.Replace(
			w.source,
			"only keep results alive.",
			"keep results alive, mixed with constants that say which access each is of: without them the finding is not told from its surroundings.",
			1,
		)
	}
	return w
}

// versions returns the table of versions of a finding of LLVM's.
func (b *clRoad) versions() string {
	var out strings.Builder
	out.WriteString("| tool | version | build |\n|---|---|---|\n")
	fmt.Fprintf(&out, "| %s | %s | %s |\n", b.line().Tool(), md(b.f.Toolchain.Version), md(b.f.Toolchain.Build))
	if b.prog.library != "" {
		fmt.Fprintf(&out, "| libclc | of the same release | %s |\n", md(b.libclcName()))
	}
	fmt.Fprintf(&out, "| optcheck | %s | |\n", md(b.in.Tool))
	if b.good != nil && b.good.tc != b.f.Toolchain {
		fmt.Fprintf(&out, "| %s, for comparison | %s | %s |\n", b.line().Tool(), md(b.good.tc.Version), md(b.good.tc.Build))
	}
	return out.String()
}
