package toolchain

import (
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/toolname"
	"optcheck/target"
)

// Kind is what toolchains of different compilers differ in: CUDA is a ptxas, *LLVM a
// clang for AMD, *LLC an llc with a ptxas behind it, *Front a compiler of CUDA C++, alone or
// with a ptxas.
type Kind interface {
	// Vendor is whose targets the toolchain compiles for, of package target.
	Vendor() string
	// compilers lists the compilers of a toolchain, in the order in which code
	// passes through them.
	compilers(t *Toolchain) []Compiler
	// describe adds what a listing of toolchains says of this kind.
	describe(t *Toolchain, d *Description)
}

// Compiler is one of the compilers of a toolchain.
type Compiler struct {
	Tool    string // "ptxas", "clang", "llc"
	Version string
	Path    string

	names []string // further ones
}

// means reports whether a name stands for the compiler.
func (c *Compiler) means(name string) bool {
	return slices.Contains(c.names, name) || toolname.Compiler(name, c.Tool, c.Version)
}

// Vendor is whose targets the toolchain compiles for: one of package target's.
func (t *Toolchain) Vendor() string { return t.Kind.Vendor() }

// Compilers lists the compilers of the toolchain, in the order in which code passes
// through them.
func (t *Toolchain) Compilers() []Compiler { return t.Kind.compilers(t) }

// Versions names the toolchain by the versions of its compilers, "22.1.8+12.4.131": a
// name that Find takes.
func (t *Toolchain) Versions() string {
	var list []string
	for _, c := range t.Compilers() {
		list = append(list, c.Version)
	}
	return strings.Join(list, "+")
}

// CUDA is the kind of a ptxas alone.
type CUDA struct{}

// Vendor is NVIDIA.
func (CUDA) Vendor() string { return target.NVIDIA }

func (CUDA) compilers(t *Toolchain) []Compiler {
	return []Compiler{{Tool: "ptxas", Version: t.Version, Path: t.Ptxas}}
}

func (CUDA) describe(t *Toolchain, d *Description) {
	d.Dir, d.Complete = filepath.Dir(t.Ptxas), t.Nvdisasm != ""
}

// Vendor is NVIDIA.
func (l *LLC) Vendor() string { return target.NVIDIA }

func (l *LLC) compilers(t *Toolchain) []Compiler {
	llc := Compiler{Tool: "llc", Version: l.Version, Path: l.Path, names: []string{l.name}}
	return append([]Compiler{llc}, CUDA{}.compilers(t)...)
}

func (l *LLC) describe(t *Toolchain, d *Description) {
	CUDA{}.describe(t, d)
	d.LLC = l
}

// Vendor is AMD.
func (l *LLVM) Vendor() string { return target.AMD }

func (l *LLVM) compilers(t *Toolchain) []Compiler {
	return []Compiler{{Tool: "clang", Version: t.Version, Path: l.Clang}}
}

func (l *LLVM) describe(_ *Toolchain, d *Description) {
	d.Dir, d.Complete, d.LLVM = filepath.Dir(l.Clang), l.Objdump != "", l
}
