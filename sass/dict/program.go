package dict

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/sass"
	"optcheck/sass/cubin"
)

// Learn makes sure that the encodings of a cubin for a target are known; the dictionary must be
// for its generation. The error is ErrBeyond if the target's code has an unknown format, or
// comes from the disassembler.
func (d *Dict) Learn(ctx context.Context, ask Disassembler, target string, f *cubin.File) error {
	format, err := cubin.FormatOf(f.SM)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBeyond, err)
	}
	keys := map[Key]bool{}
	var words []cubin.Word
	for i := range f.Funcs {
		words = format.AppendWords(words[:0], f.Funcs[i].Code)
		for j := range words {
			keys[words[j].Code] = true
		}
	}
	return d.learn(ctx, ask, target, keys)
}

// Program reads the code of a cubin whose encodings were learned. The result is what sass.Parse
// makes of the disassembler's listing with source lines (nvdisasm -c -g -ndf), with two
// differences: labels are numbered within a function instead of the file, and instructions have
// their encodings and control codes. file is used in messages only.
//
// The error is ErrBeyond if only the disassembler can say what the code is, or an *sass.Error
// if the code is incomplete.
func (d *Dict) Program(file string, f *cubin.File) (*isa.Program, error) {
	format, err := cubin.FormatOf(f.SM)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBeyond, err)
	}
	b := sass.NewBuilder(file, f.Arch())
	r := reader{d: d, f: f, size: format.Size()}
	for i := range f.Funcs {
		r.fn = &f.Funcs[i]
		r.words = format.AppendWords(r.words[:0], r.fn.Code)
		if err := r.read(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Funcs[i].Name, err)
		}
		if err := b.Func(f.Funcs[i].Name, r.out, r.labels); err != nil {
			return nil, err
		}
	}
	return b.Program()
}

// reader assembles the texts of functions, one after the other, reusing its memory.
type reader struct {
	d     *Dict
	f     *cubin.File
	fn    *cubin.Func
	words []cubin.Word
	size  int // bytes of an instruction

	entries []entry
	names   map[uint64]string // of targets, by address
	labels  map[string]uint64
	out     []sass.Known
}

func (r *reader) read() error {
	if err := r.lookUp(); err != nil {
		return err
	}
	r.name()
	r.out = r.out[:0]
	lines, src := r.f.Lines(r.fn), isa.SrcLine{}
	codes := make([]uint64, 0, r.size/8*len(r.words)) // what remains of the words
	for i := range r.words {
		w, e := &r.words[i], &r.entries[i]
		for len(lines) > 0 && lines[0].Addr <= w.Addr {
			src, lines = isa.SrcLine{File: lines[0].File, Line: lines[0].Line}, lines[1:]
		}
		at := len(codes)
		codes = append(codes, w.Raw[:r.size/8]...)
		k := sass.Known{Addr: w.Addr, Text: e.text, Src: src, Code: codes[at:len(codes):len(codes)], Control: w.Control}
		if e.kind == branch {
			k.Text = e.text + "`(" + r.names[r.target(i)] + ")" + e.after
		}
		r.out = append(r.out, k)
	}
	return r.relocate()
}

// lookUp finds the entries of the function's encodings.
func (r *reader) lookUp() error {
	r.entries = r.entries[:0]
	r.d.mu.RLock()
	defer r.d.mu.RUnlock()
	for i := range r.words {
		e, ok := r.d.entries.get(r.words[i].Code)
		switch {
		case !ok:
			return fmt.Errorf("encoding %016x was not decoded", r.words[i].Code)
		case e.kind == beyond:
			return fmt.Errorf("%w: encoding %016x", ErrBeyond, r.words[i].Code)
		case e.kind == plain && absolute(e.text):
			return fmt.Errorf("%w: %s", ErrBeyond, e.text)
		}
		r.entries = append(r.entries, e)
	}
	return nil
}

// absolute reports whether a text is a jump or call to an address that does not move with it:
// listings name what is there. What is called by a register alone has no name in them.
func absolute(text string) bool {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimLeft(text, " ")
	}
	op, rest, _ := strings.Cut(text, " ")
	op, _, _ = strings.Cut(op, ".")
	if rest = strings.TrimSpace(rest); op == "CALL" && register.MatchString(rest) {
		return false
	}
	switch op {
	case "JMP", "JMX", "JMXU", "JCAL", "CAL", "CALL", "BRX", "BRXU", "PRET", "RET", "RPCMOV", "LEPC":
		return rest != ""
	}
	return false
}

// register is an operand of a call that names what is called by a register alone.
var register = regexp.MustCompile(`^R\d+$`)

// target returns the target of branch i. The target may be the address of a word of control
// codes.
func (r *reader) target(i int) uint64 {
	return r.first(r.words[i].Addr + uint64(r.entries[i].rel))
}

// first returns the address of the first instruction at or after an address, or the address
// itself if there is none.
func (r *reader) first(addr uint64) uint64 {
	if j := r.at(addr); j < len(r.words) {
		return r.words[j].Addr
	}
	return addr
}

func (r *reader) at(addr uint64) int {
	j, _ := slices.BinarySearchFunc(r.words, addr, func(w cubin.Word, a uint64) int { return cmp.Compare(w.Addr, a) })
	return j
}

// name labels each target of a branch: with the name of the function that begins there, or a
// number.
func (r *reader) name() {
	r.names, r.labels = nil, nil
	var targets []uint64
	for i := range r.entries {
		if r.entries[i].kind == branch {
			targets = append(targets, r.target(i))
		}
	}
	if len(targets) == 0 {
		return
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	functions := map[uint64]string{}
	for addr, name := range r.f.Inner(r.fn) {
		functions[r.first(addr)] = name
	}
	r.names, r.labels = make(map[uint64]string, len(targets)), make(map[string]uint64, len(targets))
	for n, addr := range targets {
		name := fmt.Sprintf(".L_x_%d", n)
		if f, ok := functions[addr]; ok {
			name = f
		}
		r.names[addr], r.labels[name] = name, addr
	}
}

// relocate inserts symbols into the instructions whose operands a linker fills in.
func (r *reader) relocate() error {
	for _, rel := range r.f.Relocations(r.fn) {
		i, ok := slices.BinarySearchFunc(r.out, rel.Offset, func(k sass.Known, a uint64) int { return cmp.Compare(k.Addr, a) })
		if !ok {
			return fmt.Errorf("%w: a relocation at %#x, where no instruction is", ErrBeyond, rel.Offset)
		}
		part := parts[rel.Type]
		text, ok := withSymbol(r.out[i].Text, part, rel.Symbol)
		if part == "" || rel.Symbol == "" || rel.Addend != 0 || !ok {
			return fmt.Errorf("%w: relocation %d of %s", ErrBeyond, rel.Type, r.out[i].Text)
		}
		r.out[i].Text = text
	}
	return nil
}

// parts maps the relocations by which an instruction gets half of an address, as CUDA 11.2 to
// 12.4 use them, to that half: R_CUDA_ABS32_LO_23 and HI_23 of Kepler, LO_20 and HI_20 of
// Maxwell, LO_32 and HI_32 since Volta.
var parts = map[uint32]string{13: "32@lo", 14: "32@hi", 43: "32@lo", 44: "32@hi", 56: "32@lo", 57: "32@hi"}

// withSymbol replaces the only number among the operands of an instruction, which must be 0, by
// a symbol.
func withSymbol(text, part, symbol string) (string, bool) {
	i := strings.LastIndex(text, ", 0x0")
	if i < 0 || strings.Count(text, "0x") != 1 || len(text) > i+5 && text[i+5] != ',' {
		return "", false
	}
	return text[:i+2] + part + "(" + symbol + ")" + text[i+5:], true
}
