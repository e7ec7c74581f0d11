// Package patch changes single instructions of a cubin, for experiments: what does the chip do
// if this fence is missing? It knows no encodings. It finds the encoding of the wanted
// instruction by changing a few bits of the present one until a disassembler prints what is
// wanted; control codes stay as they are.
//
// It is for sm_70 and newer, where each instruction has its own control code. No compiler made
// the result: measurements on it say nothing about one.
package patch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optcheck/isa"
	"optcheck/sass"
	"optcheck/sass/cubin"
)

// Disassembler prints raw code for a target at address 0. refused lists the addresses of
// instructions that it does not know: then there is no listing.
type Disassembler func(ctx context.Context, target string, code []byte) (listing []byte, refused []uint64, err error)

// Edit is one change.
type Edit struct {
	// Opcode selects instructions: those with this opcode and these modifiers, in
	// order, among possible others: LDG.STRONG.GPU selects LDG.E.64.STRONG.GPU.
	Opcode string
	// Nth is the occurrence to change, counted in each function from 1; 0 means all.
	Nth int
	// To is the opcode, with its modifiers, that takes its place with the same
	// operands; NOP; "wait=25", the scoreboard barriers that it waits for, or
	// "wait=none"; or "swap", which exchanges it with the next instruction.
	To string
}

// Words of Edit.To that are not opcodes.
const (
	nop  = "NOP"
	wait = "wait="
	swap = "swap"
)

// ErrSyntax is the error for an invalid edit.
var ErrSyntax = errors.New("not an edit: want OPCODE[#N]=OPCODE, =NOP, =wait=BARRIERS, =wait=none or =swap")

// Parse reads an edit: "CCTL.IVALL=NOP", "MEMBAR.SC.GPU#2=MEMBAR.ALL.GPU",
// "NOP#1=wait=none".
func Parse(s string) (Edit, error) {
	which, to, ok := strings.Cut(s, "=")
	e := Edit{Opcode: which, To: to}
	if opcode, nth, found := strings.Cut(which, "#"); found {
		n, err := strconv.Atoi(nth)
		if err != nil || n < 1 {
			return e, fmt.Errorf("%q: %w", s, ErrSyntax)
		}
		e.Opcode, e.Nth = opcode, n
	}
	_, wrong := e.waits()
	if !ok || e.Opcode == "" || e.To == "" || strings.ContainsAny(e.Opcode, " \t,;") || wrong != nil {
		return e, fmt.Errorf("%q: %w", s, ErrSyntax)
	}
	return e, nil
}

// waits returns the set of barriers that an edit names.
func (e Edit) waits() (set uint8, err error) {
	list, ok := strings.CutPrefix(e.To, wait)
	if !ok || list == "none" {
		return 0, nil
	}
	for _, c := range list {
		if c < '0' || c > '5' {
			return 0, ErrSyntax
		}
		set |= 1 << (c - '0')
	}
	return set, nil
}

// String writes an edit as Parse reads it.
func (e Edit) String() string {
	if e.Nth > 0 {
		return fmt.Sprintf("%s#%d=%s", e.Opcode, e.Nth, e.To)
	}
	return e.Opcode + "=" + e.To
}

// Change is an instruction that was changed.
type Change struct {
	Func string
	Addr uint64
	From string
	To   string
}

// Apply makes edits, one after the other, in the functions of a cubin for which in
// is true, and reports what it changed; the cubin that it was given stays as it is.
func Apply(ctx context.Context, ask Disassembler, target string, data []byte, in func(name string) bool, edits ...Edit) ([]byte, []Change,
	error) {
	data = slices.Clone(data)
	f, err := cubin.Parse(data) // its code is that of data
	if err != nil {
		return nil, nil, err
	}
	format, err := cubin.FormatOf(f.SM)
	if err != nil || !format.Wide {
		return nil, nil, fmt.Errorf("patches are for sm_70 and newer, not %s", f.Arch())
	}
	p := &patcher{ctx: ctx, ask: ask, target: target, format: format}
	for i := range f.Funcs {
		if !in(f.Funcs[i].Name) {
			continue
		}
		for _, e := range edits {
			if err := p.edit(&f.Funcs[i], e); err != nil {
				return nil, nil, fmt.Errorf("%s: %s: %w", f.Funcs[i].Name, e, err)
			}
		}
	}
	return data, p.changes, nil
}

type patcher struct {
	ctx     context.Context
	ask     Disassembler
	target  string
	format  cubin.Format
	changes []Change
}

// Layout of an instruction: two words, with the control code in the upper part of
// the second.
const (
	size         = 16
	controlShift = 41
)

// nopCode is the encoding of NOP.
var nopCode = [2]uint64{0x7918, 0}

// edit makes one edit in a function.
func (p *patcher) edit(fn *cubin.Func, e Edit) error {
	out, _, err := p.ask(p.ctx, p.target, fn.Code)
	if err != nil {
		return err
	}
	texts, err := sass.Texts(out)
	if err != nil {
		return err
	}
	seen := 0
	for addr := uint64(0); addr+size <= uint64(len(fn.Code)); addr += size {
		if !selects(e.Opcode, texts[addr]) {
			continue
		}
		if seen++; e.Nth > 0 && seen != e.Nth {
			continue
		}
		if err := p.change(fn, addr, texts, e); err != nil {
			return fmt.Errorf("0x%x: %s: %w", addr, texts[addr], err)
		}
	}
	return nil
}

// change makes one change.
func (p *patcher) change(fn *cubin.Func, addr uint64, texts map[uint64]string, e Edit) error {
	at := fn.Code[addr:]
	raw := [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}
	code, control := raw[1]&(1<<controlShift-1), raw[1]>>controlShift
	made := e.To
	switch {
	case e.To == nop:
		raw[0], code = nopCode[0], nopCode[1]
	case strings.HasPrefix(e.To, wait):
		c := isa.ControlOf(uint32(control))
		c.Wait, _ = e.waits()
		control, made = uint64(c.Bits()), texts[addr]+", "+e.To
	case e.To == swap:
		if uint64(len(at)) < 2*size {
			return errors.New("there is no next instruction")
		}
		made = texts[addr+size]
		next := slices.Clone(at[size : 2*size])
		copy(at[size:], at[:size])
		copy(at, next)
		p.changes = append(p.changes, Change{fn.Name, addr, texts[addr], made})
		return nil
	default:
		made = withOpcode(texts[addr], e.To)
		found, err := p.encode([2]uint64{raw[0], code}, made)
		if err != nil {
			return err
		}
		raw[0], code = found[0], found[1]
	}
	binary.LittleEndian.PutUint64(at, raw[0])
	binary.LittleEndian.PutUint64(at[8:], code|control<<controlShift)
	p.changes = append(p.changes, Change{fn.Name, addr, texts[addr], made})
	return nil
}

// selects reports whether a text is of an instruction that has all parts of an
// opcode, the first as its first, in their order.
func selects(opcode, text string) bool {
	_, has := split(text)
	want := strings.Split(opcode, ".")
	if len(want) == 0 || has[0] != want[0] {
		return false
	}
	for _, part := range has {
		if len(want) > 0 && part == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// split takes a text apart: the predicate before the opcode, and the opcode's parts.
func split(text string) (guard string, opcode []string) {
	words := strings.Fields(text)
	if len(words) > 1 && strings.HasPrefix(words[0], "@") {
		guard, words = words[0]+" ", words[1:]
	}
	if len(words) == 0 {
		return guard, []string{""}
	}
	return guard, strings.Split(words[0], ".")
}

// withOpcode returns a text with another opcode.
func withOpcode(text, opcode string) string {
	guard, old := split(text)
	rest := strings.TrimPrefix(strings.TrimPrefix(text, guard), strings.Join(old, "."))
	return guard + opcode + rest
}

// maxBits is how many bits of the upper word encode changes at most.
const maxBits = 3

// encode finds the encoding, few bits of the upper word away from one, of which the
// disassembler prints text.
func (p *patcher) encode(from [2]uint64, text string) ([2]uint64, error) {
	want := strings.Join(strings.Fields(text), " ")
	for _, list := range near(from, maxBits) {
		texts, err := p.print(list)
		if err != nil {
			return from, err
		}
		for i, got := range texts {
			if strings.Join(strings.Fields(got), " ") == want {
				return list[i], nil
			}
		}
	}
	return from, fmt.Errorf("no encoding within %d bits is %s", maxBits, want)
}

// near lists the encodings that differ from one in 1 to n bits of the upper word,
// those of equal distance together.
func near(from [2]uint64, n int) (lists [][][2]uint64) {
	last := []uint64{0}
	for range n {
		var next []uint64
		var list [][2]uint64
		for _, m := range last {
			for bit := uint64(1); bit < 1<<controlShift && (m == 0 || bit < m&-m); bit <<= 1 {
				next = append(next, m|bit)
				list = append(list, [2]uint64{from[0], from[1] ^ (m | bit)})
			}
		}
		lists, last = append(lists, list), next
	}
	return lists
}

// print returns what the disassembler prints for encodings, "" for those that it
// does not know.
func (p *patcher) print(list [][2]uint64) ([]string, error) {
	out := make([]string, len(list))
	asked := make([]int, len(list))
	for i := range asked {
		asked[i] = i
	}
	for len(asked) > 0 {
		words := make([][2]uint64, len(asked))
		for k, i := range asked {
			words[k] = list[i]
		}
		listing, refused, err := p.ask(p.ctx, p.target, p.format.Join(words))
		if err != nil {
			return nil, err
		}
		if len(refused) > 0 {
			gone := map[uint64]bool{}
			for _, a := range refused {
				gone[a] = true
			}
			n := len(asked)
			at := uint64(0)
			asked = slices.DeleteFunc(asked, func(int) bool { at += size; return gone[at-size] })
			if len(asked) == n {
				return nil, errors.New("the disassembler refuses what it does not name")
			}
			continue
		}
		texts, err := sass.Texts(listing)
		if err != nil {
			return nil, err
		}
		for k, i := range asked {
			out[i] = texts[uint64(k*size)]
		}
		break
	}
	return out, nil
}
