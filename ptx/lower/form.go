package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optcheck/ir"
	"optcheck/ptx"
)

// form is a row of the table: instructions of one name with the modifiers that they may have.
type form struct {
	slots    []slot
	min, max int // operands
	do       func(*inst)
	// source is where the meaning is written: a section of the PTX ISA, or chip, if an experiment says more.
	source string
}

// slot is a place for a modifier.
type slot struct {
	name     string
	words    []string
	optional bool
}

// sets are the lists of modifiers that rows name with an @.
var sets = map[string]string{
	"int":   "u16,u32,u64,s16,s32,s64",
	"int32": "u32,u64,s32,s64",
	"bits":  "b16,b32,b64",
	"any":   "b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64",
	"mem":   "b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f16,bf16,f16x2,bf16x2,f32,f64",
	"icmp":  "eq,ne,lt,le,gt,ge,lo,ls,hi,hs",
	"fcmp":  "eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan",
	"scope": "cta,cluster,gpu,sys",
	"round": "rn,rz,rm,rp",
	"half":  "f16,bf16",
	"half2": "f16x2,bf16x2",
	"k8":    groupShapes(8),
	"k16":   groupShapes(16),
	"k32":   groupShapes(32),
}

// groupShapes are the shapes of wgmma's products of k columns: PTX ISA 9.7.15.2.
func groupShapes(k int) string {
	var out []string
	for n := 8; n <= 256; n += 8 {
		out = append(out, fmt.Sprintf("m64n%dk%d", n, k))
	}
	return strings.Join(out, ",")
}

// row makes a form. Its pattern is the number of operands (2, or 2-3), then the slots: "sat?" is
// one word that may stand there, "t:u32,s32" is one of several words, called t, that must.
func row(pattern string, do func(*inst), source string) form {
	words := strings.Fields(pattern)
	from, to, ranged := strings.Cut(words[0], "-")
	if !ranged {
		to = from
	}
	f := form{do: do, source: source}
	var err error
	if f.min, err = strconv.Atoi(from); err != nil {
		panic(err)
	}
	if f.max, err = strconv.Atoi(to); err != nil {
		panic(err)
	}
	for _, w := range words[1:] {
		f.slots = append(f.slots, newSlot(w))
	}
	return f
}

func newSlot(pattern string) (s slot) {
	name, list, several := strings.Cut(pattern, ":")
	s.name, s.optional = strings.CutSuffix(name, "?")
	if !several || strings.HasPrefix(list, ":") { // L1::no_allocate
		s.name, s.optional = strings.CutSuffix(pattern, "?")
		s.words = []string{s.name}
		return s
	}
	for _, w := range strings.Split(list, ",") {
		if set, ok := strings.CutPrefix(w, "@"); ok {
			s.words = append(s.words, strings.Split(sets[set], ",")...)
		} else {
			s.words = append(s.words, w)
		}
	}
	return s
}

// match finds the slot of each modifier: the first one that is free and has the word. Those that must be filled are filled
// in their order, since cvt.f32.f16 is not cvt.f16.f32. bad is a modifier for which there is none, or the name of a slot that
// is not filled.
func (f *form) match(mods []string) (m map[string]string, bad string) {
	m = make(map[string]string, len(mods))
	next := 0
	for _, w := range mods {
		at := -1
		for i, s := range f.slots {
			if m[s.name] == "" && slices.Contains(s.words, w) && (s.optional || i >= next) {
				at = i
				break
			}
		}
		if at < 0 {
			return nil, "." + w
		}
		if m[f.slots[at].name] = w; !f.slots[at].optional {
			next = at
		}
	}
	for _, s := range f.slots {
		if !s.optional && m[s.name] == "" {
			return nil, "no " + s.name
		}
	}
	return m, ""
}

// shape is what an opcode with its modifiers means.
type shape struct {
	form *form
	mods map[string]string
	why  string
}

// shapes finds the rows of opcodes once.
type shapes map[string]shape

func (all shapes) of(in *ptx.Inst) shape {
	s, ok := all[in.Op]
	if !ok {
		s = find(in)
		all[in.Op] = s
	}
	return s
}

func find(in *ptx.Inst) shape {
	rows := table[in.Name]
	if rows == nil {
		return shape{why: in.Name + " is not understood"}
	}
	why := ""
	for i := range rows {
		m, bad := rows[i].match(in.Mods)
		if bad == "" {
			return shape{form: &rows[i], mods: m}
		}
		why = bad
	}
	if len(rows) > 1 {
		return shape{why: in.Op + ": the modifiers are not understood"}
	}
	return shape{why: fmt.Sprintf("%s: %s is not understood", in.Op, why)}
}

// types are the types of PTX's names.
var types = map[string]ir.Type{"pred": ir.Pred, "b8": ir.U8, "b16": ir.U16, "b32": ir.U32, "b64": ir.U64, "b128": ir.B128,
	"u8": ir.U8, "u16": ir.U16, "u32": ir.U32, "u64": ir.U64, "s8": ir.S8, "s16": ir.S16, "s32": ir.S32, "s64": ir.S64,
	"f16": ir.F16, "bf16": ir.BF16, "f32": ir.F32, "f64": ir.F64, "f16x2": ir.F16x2, "bf16x2": ir.BF16x2, "tf32": ir.TF32, "e4m3": ir.E4M3, "e5m2": ir.E5M2}

// raw is a type's bits as an unsigned integer.
func raw(t ir.Type) ir.Type {
	if t == ir.Pred || t == ir.B128 {
		return t
	}
	return ir.Unsigned(t.Bits())
}
