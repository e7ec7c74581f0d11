package amdisa

import (
	"fmt"
	"strings"

	"optcheck/isa"
)

// Parse reads AMD machine code. file is used in messages only. The dialect is
// detected, and the target taken from the text; when the text does not name it,
// the family is inferred from what only it can spell (Func.Arch is then gfx6,
// gfx9, gfx940, evergreen, …). Instructions that are printed the same share
// their operand and register slices.
//
// Every kernel is one function; functions that kernels call are functions with
// Callable set. Where clang-22 emits a kernel as a call of its body (-O0), the
// body is put in the place of the call.
//
// The error is an *Error: empty or foreign input, a listing without any
// instruction, one that ends in the middle of a function, or a line over 64 KiB.
func Parse(file string, src []byte) (*isa.Program, error) {
	return ParseFor(file, src, "")
}

// ParseFor is like Parse, for a target that is known from elsewhere (gfx90a,
// tahiti, cayman): it is used when the text names none, as that of llvm-objdump.
// An unknown target is an *Error of kind ErrTarget.
func ParseFor(file string, src []byte, arch string) (*isa.Program, error) {
	if err := checkLines(file, src); err != nil {
		return nil, err
	}
	s := string(src)
	switch d := detect(s); d {
	case "":
		return nil, &Error{File: file, Line: 1, Kind: ErrForeign, Msg: "no instruction of GCN, CDNA, RDNA or TeraScale and no header of a tool that prints them"}
	case DialectR600:
		return parseR600(file, s, arch)
	case DialectTeraScale:
		return parseTeraScale(file, s, arch)
	default:
		return parseGCN(file, s, arch, d)
	}
}

// checkLines refuses input that is too large for its kind.
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

// base is what the readers of all dialects share.
type base struct {
	file    string
	prog    *isa.Program
	line    int
	fn      *isa.Func
	insts   []isa.Inst
	labels  map[string]int // label → index of the instruction behind it
	branch  []pending
	src     isa.SrcLine
	codeArn []uint64
}

func newBase(file, dialect string) base {
	return base{file: file, prog: &isa.Program{File: file, Dialect: dialect}, labels: map[string]int{}}
}

func (p *base) fail(kind error, msg string) error {
	return &Error{File: p.file, Line: max(1, p.line), Kind: kind, Msg: clip(msg)}
}

// clip shortens text from the input for a message.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// problem records a line that was not understood.
func (p *base) problem(text, why string) {
	switch n := len(p.prog.Problems); {
	case n < maxProblems:
		p.prog.Problems = append(p.prog.Problems, isa.Problem{Line: p.line, Text: strings.Clone(clip(text)), Why: why})
	case n == maxProblems:
		p.prog.Problems = append(p.prog.Problems, isa.Problem{Line: p.line, Why: "more problems follow"})
	}
}

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
	abi     *abi   // of the block being read
	closed  bool   // the function's end was seen
	elems   []string
}

func parseGCN(file, s, arch, dialect string) (*isa.Program, error) {
	p := &gcn{base: newBase(file, dialect), cache: map[string]*template{}, kernels: map[string]*abi{}, types: map[string]bool{}, files: map[string]string{}}
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

// target finds the target that the text names, or guesses its family.
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
		// A CPU name on the command line says more than the number behind it.
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
	case strings.Contains(s, ".amdhsa_wavefront_size32 1"), strings.Contains(s, "wavefrontsize32"), strings.Contains(s, "enable_wavefront_size32 = 1"):
		t.wave = 32
	case strings.Contains(s, ".amdhsa_wavefront_size32 0"), strings.Contains(s, "enable_wavefront_size32 = 0"):
		t.wave = 64
	default:
		t.wave = guess(s).wave
	}
	return t
}

// oneLine handles a line of any kind.
func (p *gcn) oneLine(line string) error {
	t := trim(line)
	if t == "" {
		return nil
	}
	if p.block != "" {
		p.inBlock(t)
		return nil
	}
	var addr uint64
	hasAddr := false
	if strings.HasPrefix(t, "/*") {
		j := 2 + strings.Index(t[2:], "*/")
		if j < 2 {
			p.problem(t, "comment without end")
			return nil
		}
		addr, hasAddr = parseHex(trim(t[2:j]))
		if t = trim(t[j+2:]); t == "" {
			return nil
		}
	}
	switch t[0] {
	case ';', '*', '#', '=', '/':
		p.comment(t)
		return nil
	case '.':
		if !strings.Contains(t, ":") || !isLabel(t) {
			p.directive(t)
			return nil
		}
	}
	if p.prog.Dialect == DialectObjdump && (strings.Contains(t, "file format ") || strings.HasPrefix(t, "Disassembly of section ")) {
		return nil
	}
	if a, name, ok := objdumpLabel(t); ok {
		return p.startFunc(name, a)
	}
	text, note := cutComment(t)
	for {
		name, rest, ok := cutLabel(text)
		if !ok {
			break
		}
		if err := p.label(name); err != nil {
			return err
		}
		text = rest
	}
	if text == "" {
		return nil
	}
	if text[0] == '.' {
		p.directive(text)
		return nil
	}
	return p.instruction(text, note, addr, hasAddr)
}

// cutComment splits code and comment.
func cutComment(t string) (text, note string) {
	for i := 0; i < len(t); i++ {
		if t[i] == '"' {
			if j := strings.IndexByte(t[i+1:], '"'); j >= 0 {
				i += j + 1
			}
			continue
		}
		if t[i] == ';' {
			return trim(t[:i]), trim(t[i+1:])
		}
		if t[i] == '/' && i+1 < len(t) && t[i+1] == '/' {
			return trim(t[:i]), trim(t[i+2:])
		}
		if t[i] == '/' && i+1 < len(t) && t[i+1] == '*' {
			return trim(t[:i]), trim(t[i+2:])
		}
	}
	return t, ""
}

// cutLabel splits name: from what follows.
func cutLabel(t string) (name, rest string, ok bool) {
	for i := 0; i < len(t); i++ {
		c := t[i]
		if c == ':' {
			if i == 0 || i+1 < len(t) && !isBlank(t[i+1]) {
				return "", t, false
			}
			return t[:i], trim(t[i+1:]), true
		}
		if !symbolChar(c) {
			return "", t, false
		}
	}
	return "", t, false
}

func symbolChar(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isLabel(t string) bool {
	_, _, ok := cutLabel(t)
	return ok
}

// comment reads what AMD's tools say in comments.
func (p *gcn) comment(t string) {
	if i := strings.Index(t, "Disassembly for '__kernel "); i >= 0 {
		name := t[i+len("Disassembly for '__kernel "):]
		if j := strings.IndexByte(name, '\''); j > 0 {
			_ = p.startFunc(name[:j], 0)
		}
	}
	if i := strings.Index(t, "userElements["); i >= 0 {
		p.elems = append(p.elems, t[i:])
	}
	// llvm-objdump -l: ; file.cl:12
	if p.prog.Dialect == DialectObjdump && strings.HasPrefix(t, "; ") {
		if i := strings.LastIndexByte(t, ':'); i > 2 {
			if n, ok := small(t[i+1:]); ok {
				p.src = isa.SrcLine{File: t[2:i], Line: n}
			}
		}
	}
}

// label binds a label, or starts a function.
func (p *gcn) label(name string) error {
	switch {
	case strings.HasPrefix(name, ".Lfunc_end"):
		p.closed = true
		return nil
	case p.types[name] && !strings.HasSuffix(name, "$local"):
		return p.startFunc(name, 0)
	case localLabel(name):
	case p.prog.Dialect == DialectLLVM && (p.fn == nil || p.closed) && !p.data:
		return p.startFunc(name, 0)
	}
	if p.data || p.fn == nil && p.prog.Dialect == DialectLLVM {
		return nil
	}
	if p.fn == nil {
		if err := p.startFunc("main", 0); err != nil {
			return err
		}
	}
	if len(p.labels) < 1<<20 {
		p.labels[name] = len(p.insts)
	}
	return nil
}

func localLabel(name string) bool {
	if name[0] == '.' || strings.HasPrefix(name, "label_") || strings.HasPrefix(name, "BB") || strings.HasSuffix(name, "$local") {
		return true
	}
	return name[0] == 'L' && len(name) > 1 && isDigit(name[1])
}

// startFunc begins a function.
func (p *gcn) startFunc(name string, addr uint64) error {
	if p.fn != nil && len(p.insts) == 0 {
		p.fn.Name = strings.Clone(name) // an alias, or a name that is known only now
		return nil
	}
	if err := p.endFunc(); err != nil {
		return err
	}
	if len(p.prog.Funcs) >= maxFuncs {
		return p.fail(ErrTooBig, "more than 65536 functions")
	}
	p.fn = &isa.Func{Name: strings.Clone(name), Line: p.line, Arch: p.dec.t.name, Wave: p.dec.t.wave}
	p.closed = false
	return nil
}

// instruction handles one instruction.
func (p *gcn) instruction(text, note string, addr uint64, hasAddr bool) error {
	if p.data {
		return nil
	}
	op, _ := cutWord(text)
	if !mnemonic(op) {
		if header(text) {
			return nil
		}
		if p.fn == nil || p.closed {
			return nil // whatever stands around the code
		}
		if text == "..." {
			return nil // zeros between functions
		}
	}
	if p.fn == nil || p.closed {
		if p.prog.Dialect == DialectLLVM && p.closed && op == "s_code_end" {
			return nil
		}
		name := "main"
		if err := p.startFunc(name, 0); err != nil {
			return err
		}
	}
	tm := p.cache[text]
	if tm == nil {
		tm = p.dec.decode(text)
		if len(p.cache) < maxCache {
			p.cache[text] = tm
		}
	}
	n := len(p.insts)
	p.insts = append(p.insts, tm.in)
	in := &p.insts[n]
	in.Line, in.Src, in.Addr = p.line, p.src, uint64(4*n)
	if hasAddr {
		in.Addr = addr
	}
	p.note(in, note)
	if tm.label != "" {
		p.branch = append(p.branch, pending{n, tm.label})
	}
	if tm.why != "" {
		p.problem(text, tm.why)
	}
	return nil
}

// header tells lines of AMD's layout that are no code.
func header(t string) bool {
	for _, w := range []string{"shader ", "asic(", "type(", "end", "wave_size(", "ShaderType", "TargetChip", "user_sgprs", "sgpr_count", "vgpr_count", "trap_present"} {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return strings.Contains(t, " = ")
}

// note reads the comment behind an instruction: address, encoding words and
// branch target.
func (p *gcn) note(in *isa.Inst, note string) {
	i := strings.IndexByte(note, ':')
	if i < 4 || i > 16 {
		return
	}
	a, ok := parseHex(note[:i])
	if !ok {
		return
	}
	in.Addr = a
	rest := trim(note[i+1:])
	var words [4]uint64
	n := 0
	for n < 4 && rest != "" {
		w, tail := cutWord(rest)
		v, ok := parseHex(w)
		if !ok || len(w) != 8 {
			break
		}
		words[n] = v
		n++
		rest = tail
	}
	if n > 0 {
		in.Code = p.code(words[:n]...)
	}
}

// endFunc closes the function being read: padding goes, branches are resolved,
// blocks are built.
func (p *gcn) endFunc() error {
	fn := p.fn
	if fn == nil {
		return nil
	}
	p.fn = nil
	p.src = isa.SrcLine{}
	p.trimPadding()
	if len(p.insts) == 0 {
		p.reset()
		return nil
	}
	fn.Insts = append([]isa.Inst(nil), p.insts...)
	err := p.resolve(fn)
	p.reset()
	if err != nil {
		return err
	}
	fn.BuildCFG()
	p.prog.Funcs = append(p.prog.Funcs, fn)
	return nil
}

func (p *gcn) reset() {
	p.insts, p.branch = p.insts[:0], p.branch[:0]
	clear(p.labels)
}

// trimPadding drops the fill behind the last instruction.
func (p *gcn) trimPadding() {
	n := len(p.insts)
	for n > 0 {
		in := &p.insts[n-1]
		pad := in.Op == "s_code_end" || in.Op == "s_nop" || in.Op == "v_illegal" || in.Op == "" && in.Role == isa.RoleUnknown
		if !pad {
			break
		}
		n--
	}
	if n > 0 && !endsFlow(&p.insts[n-1]) {
		return // no padding: the code runs on
	}
	// Labels may point behind the end.
	if n < len(p.insts) && n > 0 {
		for i := n; i < len(p.insts); i++ {
			if p.insts[i].Role == isa.RoleUnknown {
				p.dropProblem(p.insts[i].Line)
			}
		}
		p.insts = p.insts[:n]
	}
}

// dropProblem takes back the complaint about a line.
func (p *base) dropProblem(line int) {
	l := p.prog.Problems
	for i := len(l) - 1; i >= 0 && i >= len(l)-64; i-- {
		if l[i].Line == line {
			p.prog.Problems = append(l[:i], l[i+1:]...)
			return
		}
	}
}

// endsFlow tells instructions behind which control does not go on.
func endsFlow(in *isa.Inst) bool {
	switch in.Flow {
	case isa.FlowExit, isa.FlowReturn, isa.FlowIndirect:
		return true
	case isa.FlowJump:
		return in.Guard == isa.Guard{}
	case isa.FlowTrap:
		return true
	}
	return false
}
