package amdisa

import (
	"fmt"
	"strings"

	"optcheck/isa"
)

// Parse reads AMD machine code. file is used in messages only. It detects the dialect and takes
// the target from the text. If the text does not name the target, the family is inferred from
// spellings that are unique to it (Func.Arch is then gfx6, gfx9, gfx940, evergreen, …).
// Instructions that are printed the same share their operand and register slices.
//
// Every kernel is one function; functions that kernels call are functions with Callable set.
// Where clang-22 emits a kernel as a call of its body (-O0), the body replaces the call.
//
// The error is an *Error: empty or foreign input, a listing without any instruction, one that
// ends in the middle of a function, or a line over 64 KiB.
func Parse(file string, src []byte) (*isa.Program, error) {
	return ParseFor(file, src, "")
}

// ParseFor is like Parse for a target that is known from elsewhere (gfx90a, tahiti, cayman); it
// is used if the text names none, like that of llvm-objdump. An unknown target is an *Error of
// kind ErrTarget.
func ParseFor(file string, src []byte, arch string) (*isa.Program, error) {
	if err := checkLines(file, src); err != nil {
		return nil, err
	}
	s := string(src)
	switch d := detect(s); d {
	case "":
		return nil, &Error{File: file, Line: 1, Kind: ErrForeign,
			Msg: "no instruction of GCN, CDNA, RDNA or TeraScale and no header of a tool that prints them"}
	case DialectR600:
		return parseR600(file, s, arch)
	case DialectTeraScale:
		return parseTeraScale(file, s, arch)
	default:
		return parseGCN(file, s, arch, d)
	}
}

// checkLines rejects input that exceeds the limits.
func checkLines(file string, src []byte) error {
	if len(src) == 0 {
		return &Error{File: file, Line: 1, Kind: ErrEmpty}
	}
	if len(src) > maxInput {
		return &Error{File: file, Line: 1, Kind: ErrTooBig, Msg: fmt.Sprintf("%d bytes", len(src))}
	}
	line, from := 1, 0
	for i, c := range src {
		if c == '\n' {
			line, from = line+1, i+1
		} else if i-from > maxLine {
			return &Error{File: file, Line: line, Kind: ErrTooLong}
		}
	}
	return nil
}

// pending is a branch whose target is resolved at the end of its function.
type pending struct {
	inst  int
	label string
}

// base is the part that the readers of all dialects share.
type base struct {
	file    string
	prog    *isa.Program
	line    int
	fn      *isa.Func
	insts   []isa.Inst
	labels  map[string]int // label → index of the instruction after it
	branch  []pending
	src     isa.SrcLine
	codeArn []uint64
}

func newBase(file, dialect string) base {
	return base{file: file, prog: &isa.Program{File: file, Dialect: dialect}, labels: map[string]int{}}
}

func (p *base) fail(kind error, msg string) error {
	return &Error{File: p.file, Line: max(1, p.line), Kind: kind, Msg: isa.Clip(msg)}
}

// problem records a line that was not understood.
func (p *base) problem(text, why string) { p.prog.Misread(p.line, text, why) }

func (p *base) code(v ...uint64) []uint64 { return copyTo(&p.codeArn, v) }

// gcn reads the dialects of GCN, CDNA and RDNA.
type gcn struct {
	base
	dec     *decoder
	cache   map[string]*template
	kernels map[string]*abi
	marked  bool // the text names its kernels
	types   map[string]bool
	files   map[string]string
	data    bool   // in a section without code
	block   string // inside of a block of directives up to this one
	abi     *abi   // of the current block
	closed  bool   // the end of the function was seen
	elems   []string
}

func parseGCN(file, s, arch, dialect string) (*isa.Program, error) {
	p := &gcn{base: newBase(file, dialect), cache: map[string]*template{}, kernels: map[string]*abi{}, types: map[string]bool{},
		files: map[string]string{}}
	t, err := p.target(s, arch)
	if err != nil {
		return nil, err
	}
	p.dec = &decoder{t: t}
	for s != "" {
		line := s
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			line, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		p.line++
		if err := p.oneLine(line); err != nil {
			return nil, err
		}
	}
	if err := p.endFunc(); err != nil {
		return nil, err
	}
	if len(p.prog.Funcs) == 0 {
		return nil, p.fail(ErrNoCode, "headers only; the tool does not know this target or failed")
	}
	p.inlineTwins()
	p.entries()
	return p.prog, nil
}

// target returns the target that the text names, or guesses its family.
func (p *gcn) target(s, arch string) (target, error) {
	named := ""
	for _, key := range []string{".amdgcn_target \"", ".amd_amdgpu_isa \"", "amdhsa.target:", "\n.gpu ", "\nasic(", " asic(", "\tasic("} {
		if i := strings.Index(s, key); i >= 0 {
			rest := s[i+len(key):]
			if len(rest) > 100 {
				rest = rest[:100]
			}
			rest = trim(rest)
			if j := strings.IndexAny(rest, "\"\r\n) "); j >= 0 {
				rest = rest[:j]
			}
			named = strings.TrimSuffix(rest, "_ASIC")
			break
		}
	}
	switch strings.ToUpper(named) {
	case "SI":
		named = "gfx6"
	case "CI":
		named = "gfx7"
	case "VI":
		named = "gfx8"
	}
	if named == "" {
		named = machineVersion(s)
	}
	if t, ok := targetOf(named); ok && t.gen > 0 {
		// A CPU name on the command line is more specific than the number after it.
		if u, ok := targetOf(arch); ok && u.gen == t.gen {
			t.name = u.name
		}
		return p.waveOf(t, s), nil
	}
	if arch != "" {
		t, ok := targetOf(arch)
		if !ok {
			return target{}, p.fail(ErrTarget, arch)
		}
		return p.waveOf(t, s), nil
	}
	return p.waveOf(guess(s), s), nil
}

// machineVersion reads the version of amd_kernel_code_t: gfx600.
func machineVersion(s string) string {
	var v [3]int
	for i, key := range []string{"amd_machine_version_major = ", "amd_machine_version_minor = ", "amd_machine_version_stepping = "} {
		j := strings.Index(s, key)
		if j < 0 {
			return ""
		}
		rest := s[j+len(key):]
		k := 0
		for k < len(rest) && k < 4 && isDigit(rest[k]) {
			k++
		}
		v[i], _ = small(rest[:k])
	}
	return fmt.Sprintf("gfx%d%d%x", v[0], v[1], v[2])
}

// waveOf finds the wave size of gfx10 and later.
func (p *gcn) waveOf(t target, s string) target {
	if t.wave != 0 || t.gen == 0 {
		return t
	}
	switch {
	case strings.Contains(s, ".amdhsa_wavefront_size32 1"), strings.Contains(s, "wavefrontsize32"),
		strings.Contains(s, "enable_wavefront_size32 = 1"):
		t.wave = 32
	case strings.Contains(s, ".amdhsa_wavefront_size32 0"), strings.Contains(s, "enable_wavefront_size32 = 0"):
		t.wave = 64
	default:
		t.wave = guess(s).wave
	}
	return t
}
