package mapping

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
)

// Inst is one instruction of a machine sequence, without its registers.
type Inst struct {
	// Text is mnemonic and modifiers, after "@P " or "@!P " if the instruction
	// is predicated; a barrier keeps its operands.
	Text string `json:"text"`
	// Sometimes is set if the kernel can end without executing the instruction's basic block,
	// Repeated if it can return to it.
	Sometimes bool `json:"sometimes,omitempty"`
	Repeated  bool `json:"repeated,omitempty"`
	// Block numbers the basic blocks that the sequence has instructions of.
	Block int `json:"block"`

	loop int // the first block of its loop, if Repeated
	role isa.Role
	line int // of the source
}

// Sequence formats a sequence: instructions separated by semicolons, braces around what is
// executed on some paths only, ( … )* around what is repeated. An empty sequence is "nothing".
func Sequence(list []Inst) string {
	if len(list) == 0 {
		return "nothing"
	}
	var groups []string
	for i := 0; i < len(list); {
		// A loop is one group, even if it can be left between its blocks.
		j, some := i+1, list[i].Sometimes
		for j < len(list) && list[j].Repeated == list[i].Repeated &&
			(list[j].Block == list[i].Block || list[i].Repeated && list[j].loop == list[i].loop) {
			some = some && list[j].Sometimes
			j++
		}
		var texts []string
		for _, in := range list[i:j] {
			t := in.Text
			if in.Sometimes && !some {
				t = "{" + t + "}"
			}
			texts = append(texts, t)
		}
		s := strings.Join(texts, " ; ")
		if list[i].Repeated {
			s = "(" + s + ")*"
		}
		if some {
			s = "{" + s + "}"
		}
		groups = append(groups, s)
		i = j
	}
	return strings.Join(groups, " ; ")
}

// mapExchange lists the instructions by which the lanes of a warp combine their atomics into
// one: a sequence shows them, because they explain why its access is predicated.
var mapExchange = []string{"VOTE", "VOTEU", "MATCH", "SHFL", "REDUX", "ELECT"}

// mapWaits lists the instructions that order no memory by themselves but belong to fences and
// to loads through the texture unit.
var mapWaits = []string{"ERRBAR", "CGAERRBAR", "TEXDEPBAR", "WARPSYNC"}

// Shown returns how a sequence shows an NVIDIA instruction; ok is false if it does not.
func Shown(in *isa.Inst) (text string, ok bool) {
	if !mapKeeps(in) {
		return "", false
	}
	return mapText(in), true
}

func mapKeeps(in *isa.Inst) bool {
	switch {
	case in.Guard.Never:
		return false
	case in.Role.IsAccess(), in.Role == isa.RoleFence, in.Role == isa.RoleBarrier, in.Role == isa.RoleCache:
		return true
	case in.Role == isa.RoleWait:
		return slices.Contains(mapWaits, in.Op)
	}
	return slices.Contains(mapExchange, in.Op)
}

// mapSequence reads the memory-relevant instructions of a probe's kernel, its
// own surroundings left out. An instruction that the decoder does not know, or
// surroundings that are not where they should be, are errors: then nothing is
// known of the operation.
func mapSequence(fn *isa.Func, op *Op) ([]Inst, error) {
	list, err := mapInsts(fn, op.Group)
	if err != nil {
		return nil, err
	}
	if op.Group == "warps" { // what lanes that are apart perform is behind everything else
		return dropStores(list, op.trail)
	}
	if list, err = dropLead(list, op.lead); err != nil {
		return nil, err
	}
	slices.Reverse(list)
	list, err = dropLead(list, op.trail)
	slices.Reverse(list)
	return list, err
}

// dropStores removes the stores of results, of which there must be n, in no loop.
func dropStores(list []Inst, n int) (out []Inst, err error) {
	for _, in := range list {
		if in.role == isa.RoleStore && !in.Sometimes && !in.Repeated {
			n--
			continue
		}
		out = append(out, in)
	}
	if n != 0 {
		return nil, fmt.Errorf("the surroundings of the operation are not as written: %s", Sequence(list))
	}
	return out, nil
}

// dropLead removes the first n loads and stores, which must stand before every
// other instruction of note.
func dropLead(list []Inst, n int) ([]Inst, error) {
	for range n {
		if len(list) == 0 || list[0].role != isa.RoleLoad && list[0].role != isa.RoleStore || list[0].Sometimes ||
			list[0].Repeated || strings.HasPrefix(list[0].Text, "@") {
			return nil, fmt.Errorf("the surroundings of the operation are not as written: %s", Sequence(list))
		}
		list = list[1:]
	}
	return list, nil
}

func mapInsts(fn *isa.Func, group string) ([]Inst, error) {
	reach := fn.Reachable()
	var list []Inst
	for b, blk := range fn.Blocks {
		if !reach[b] {
			continue
		}
		some, loop, known := false, -1, false
		for i := blk.First; i < blk.End; i++ {
			in := &fn.Insts[i]
			if in.Role == isa.RoleUnknown {
				return nil, fmt.Errorf("unknown instruction at 0x%x: %s", in.Addr, in.Text)
			}
			text, ok := Shown(in)
			if !ok && mapGroupWaits(group, in.Op) {
				text, ok = mapText(in), true
			}
			if !ok {
				continue
			}
			if !known {
				some, loop, known = avoidable(fn, b), loopOf(fn, b), true
			}
			list = append(list, Inst{Text: text, Sometimes: some, Repeated: loop >= 0, Block: b, loop: loop, role: in.Role, line: in.Src.Line})
		}
	}
	return list, nil
}

// mapText spells an instruction without registers and addresses.
func mapText(in *isa.Inst) string {
	s := strings.Join(append([]string{in.Op}, in.Mods...), ".")
	if in.Role == isa.RoleBarrier {
		var args []string
		for i := range in.Args {
			if a := &in.Args[i]; a.Kind == isa.OpdImm {
				args = append(args, fmt.Sprintf("%#x", a.Imm))
			}
		}
		if len(args) > 0 {
			s += " " + strings.Join(args, ", ")
		}
	}
	switch {
	case in.Guard.Reg.Class == isa.ClassNone:
		return s
	case in.Guard.Neg:
		return "@!P " + s
	}
	return "@P " + s
}

// avoidable reports whether the kernel can end without executing a block. A predicated exit may
// skip what follows it.
func avoidable(fn *isa.Func, block int) bool {
	if block == 0 {
		return false
	}
	return walkBlocks(fn, 0, func(b int) bool { return b != block }, func(b int) bool {
		for i := fn.Blocks[b].First; i < fn.Blocks[b].End; i++ {
			if fn.Insts[i].Flow == isa.FlowExit && !fn.Insts[i].Guard.Never {
				return true
			}
		}
		return false
	})
}

// loopOf returns the first block of the loop that contains a block: the first block from which
// it can be reached and that can be reached from it; -1 without a loop.
func loopOf(fn *isa.Func, block int) int {
	any := func(int) bool { return true }
	leads := func(from, to int) bool {
		for _, s := range fn.Blocks[from].Succs {
			if s == to || walkBlocks(fn, s, any, func(b int) bool { return b == to }) {
				return true
			}
		}
		return false
	}
	for b := range block + 1 {
		if leads(b, block) && leads(block, b) {
			return b
		}
	}
	return -1
}

// walkBlocks reports whether a block that satisfies found can be reached from the first over
// blocks that satisfy enter.
func walkBlocks(fn *isa.Func, first int, enter, found func(int) bool) bool {
	seen := make([]bool, len(fn.Blocks))
	todo := []int{first}
	seen[first] = true
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if found(b) {
			return true
		}
		for _, s := range fn.Blocks[b].Succs {
			if !seen[s] && enter(s) {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return false
}
