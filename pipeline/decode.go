package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"optcheck/isa"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/dict"
	"optcheck/toolchain"
)

// Decode reads the machine code of a cubin that a toolchain made for a target, with source
// lines. It uses a dictionary of encodings, which asks nvdisasm for encodings that it has not
// seen. A cubin that the dictionary cannot read, and every cubin if the toolchain is to show
// listings, is printed by nvdisasm as a whole. file is used in messages only.
//
// The error comes from the tools, or is an *sass.Error.
func Decode(ctx context.Context, tc *toolchain.Toolchain, file, target string, data []byte) (*Code, error) {
	parse, err := Disassemble(ctx, tc, file, target, data)
	if err != nil {
		return nil, err
	}
	return parse()
}

// Disassemble is the part of Decode that waits for tools. The function that it returns does the
// rest: it builds the program, which takes much more memory than its text.
func Disassemble(ctx context.Context, tc *toolchain.Toolchain, file, target string, data []byte) (parse func() (*Code, error), err error) {
	open := cubin.Parse
	if cubin.IsCompact(data) {
		open = cubin.ParseCompact
	}
	f, err := open(data)
	if err != nil || tc.Listings() {
		return listing(ctx, tc, file, target, data, f)
	}
	words, err := dictionaries.learn(ctx, tc, target, f)
	if errors.Is(err, toolchain.ErrCancelled) || errors.Is(err, toolchain.ErrTimeout) {
		return nil, err // what hangs nvdisasm once does so again
	}
	if err != nil { // whatever is wrong, nvdisasm has the last word on it
		dictionaries.tell(err)
		return listing(ctx, tc, file, target, data, f)
	}
	return func() (*Code, error) {
		prog, err := words.Program(file, f)
		if err == nil {
			prog.Consts = f.Constants()
			return &Code{Program: prog, File: f, Consts: prog.Consts, Literals: f.Literals()}, nil
		}
		dictionaries.tell(err)
		parse, err := listing(ctx, tc, file, target, data, f)
		if err != nil {
			return nil, err
		}
		return parse()
	}, nil
}

// listing prints a cubin with nvdisasm; f, which may be nil, is the cubin as far as it was
// read.
func listing(ctx context.Context, tc *toolchain.Toolchain, file, target string, data []byte,
	f *cubin.File) (parse func() (*Code, error), err error) {
	text, err := tc.Disassemble(ctx, data, toolchain.DisasmOptions{NoDataflow: true, Input: file})
	if err != nil {
		return nil, err
	}
	return func() (*Code, error) {
		c, err := read(file, text, f)
		if newer := tc.Newer(); newer != nil && (err != nil || gaps(c.Program)) {
			if better, failed := Decode(ctx, newer, file, target, data); failed == nil {
				return better, nil
			}
		}
		return c, err
	}, nil
}

// read reads a listing of a cubin; f may be nil.
func read(file string, text []byte, f *cubin.File) (*Code, error) {
	prog, err := sass.Parse(file, text)
	if err != nil {
		return nil, err
	}
	c := &Code{Program: prog, Listed: true}
	if f != nil {
		annotate(prog, f)
		c.File, c.Consts, c.Literals = f, prog.Consts, f.Literals()
	}
	return c, nil
}

// gaps reports whether nvdisasm printed nothing for an instruction (11.8 for VIMNMX of sm_90). Nor
// does it print the label of one, where branches go to it: that listing cannot be read.
func gaps(prog *isa.Program) bool {
	return slices.ContainsFunc(prog.Funcs, func(f *isa.Func) bool {
		return slices.ContainsFunc(f.Insts, func(in isa.Inst) bool { return in.Op == "" && in.Role == isa.RoleUnknown })
	})
}

// annotate adds to a parsed listing what only the file contains: encodings, control codes,
// source lines, the symbols of constants and the targets of indirect branches. (nvdisasm prints lines, too, but omits the
// first line of a function if the previous function ended with it: what a listing says about a
// kernel would depend on its neighbours.)
func annotate(prog *isa.Program, f *cubin.File) {
	prog.Consts = f.Constants()
	format, err := cubin.FormatOf(f.SM)
	if err != nil {
		return
	}
	funcs := map[string]*cubin.Func{}
	for i := range f.Funcs {
		funcs[f.Funcs[i].Name] = &f.Funcs[i]
	}
	for _, fn := range prog.Funcs {
		of := funcs[fn.Name]
		if of == nil {
			continue
		}
		words := format.Words(of.Code)
		sources := f.Sources(of, words)
		for i, j := 0, 0; i < len(fn.Insts) && j < len(words); {
			in, w := &fn.Insts[i], &words[j]
			if in.Addr != w.Addr {
				j++
				continue
			}
			in.Code, in.Control, in.Src = w.Raw[:format.Size()/8], w.Control, sources[j]
			i, j = i+1, j+1
		}
		jump(fn, f.Branches(of))
	}
}

// jump gives indirect branches the targets that the listing does not name.
func jump(fn *isa.Func, branches map[uint64][]uint64) {
	at := func(addr uint64) (int, bool) {
		return slices.BinarySearchFunc(fn.Insts, addr, func(in isa.Inst, a uint64) int { return cmp.Compare(in.Addr, a) })
	}
	changed := false
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if in.Flow != isa.FlowIndirect || len(in.Targets) > 0 {
			continue
		}
		var targets []int
		for _, addr := range branches[in.Addr] {
			t, ok := at(addr)
			if !ok {
				targets = nil
				break
			}
			targets = append(targets, t)
		}
		in.Targets, changed = targets, changed || len(targets) > 0
	}
	if changed {
		fn.BuildCFG()
	}
}

// dictionaries holds the dictionaries of this process.
var dictionaries decoder

// decoder holds a dictionary for each disassembler and generation of targets.
type decoder struct {
	mu    sync.Mutex
	dicts map[string]*dict.Dict
	left  int   // cubins that no dictionary could read
	why   error // the reason for the last one
}

// learn returns a dictionary that knows the encodings of a cubin.
func (d *decoder) learn(ctx context.Context, tc *toolchain.Toolchain, target string, f *cubin.File) (*dict.Dict, error) {
	words, err := d.of(tc, target)
	if err != nil {
		return nil, err
	}
	return words, words.Learn(ctx, tc.DisassembleRaw, target, f)
}

// of returns the dictionary of a toolchain's disassembler for a target.
func (d *decoder) of(tc *toolchain.Toolchain, target string) (*dict.Dict, error) {
	name, err := tc.Disassembler()
	if err != nil {
		return nil, err
	}
	generation := dict.Generation(target)
	id := fmt.Sprintf("%s for %s", name, generation)
	key := id + " " + tc.Nvdisasm + " " + tc.Dictionaries()
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.dicts[key]; w != nil {
		return w, nil
	}
	w := dict.New()
	if dir := tc.Dictionaries(); dir != "" {
		w = dict.Open(filepath.Join(dir, tc.Release()+"-"+generation), id)
	}
	if d.dicts == nil {
		d.dicts = map[string]*dict.Dict{}
	}
	d.dicts[key] = w
	return w, nil
}

// tell records a cubin that a dictionary could not read.
func (d *decoder) tell(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.why = d.left+1, why
}

// LeftOver returns the number of cubins that no dictionary of this process could read, so that
// a disassembler printed them as a whole, and the reason for the last one.
func LeftOver() (int, error) {
	dictionaries.mu.Lock()
	defer dictionaries.mu.Unlock()
	return dictionaries.left, dictionaries.why
}

// Forget drops the dictionaries of this process. They are read again when needed.
func Forget() {
	dictionaries.mu.Lock()
	defer dictionaries.mu.Unlock()
	dictionaries.dicts = nil
}
