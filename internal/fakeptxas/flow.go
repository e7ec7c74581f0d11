package fakeptxas

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// value is what a register holds: a number, or something that was computed,
// plus a constant.
type value struct {
	base   int // 0: a number
	object bool
	off    int64
}

// analysis is what passes know of a body: where control can go, and what
// registers hold.
type analysis struct {
	next, prev [][]int
	accs       []ref
	of         map[int]*ref // by instruction
	before     []map[string]value
	names      map[string]int
}

// flow analyses a body, unless nothing has changed since.
func (b *body) flow() *analysis {
	if b.a == nil {
		b.a = &analysis{names: map[string]int{}, of: map[int]*ref{}}
		b.a.edges(b.code)
		b.a.values(b.code)
		for i, in := range b.code {
			if in.isAccess() {
				b.a.accs = append(b.a.accs, ref{mnemonic: parseMnemonic(in.op), i: i, addr: b.a.operand(i, in.address())})
			}
		}
		for k := range b.a.accs {
			b.a.of[b.a.accs[k].i] = &b.a.accs[k]
		}
	}
	return b.a
}

// edges finds the instructions that may follow each; the number of instructions
// is the end.
func (a *analysis) edges(code []*inst) {
	labels := map[string]int{}
	for i, in := range code {
		if in.label != "" {
			labels[in.label] = i
		}
	}
	a.next, a.prev = make([][]int, len(code)), make([][]int, len(code)+1)
	for i, in := range code {
		var to []int
		switch n := in.name(); n {
		case "bra":
			if t, ok := labels[in.args[len(in.args)-1]]; ok {
				to = append(to, t)
			}
		case "ret", "exit", "trap":
			to = append(to, len(code))
		default:
			to = append(to, i+1)
		}
		if in.guard != "" && !slices.Contains(to, i+1) {
			to = append(to, i+1)
		}
		a.next[i] = to
		for _, t := range to {
			a.prev[t] = append(a.prev[t], i)
		}
	}
}

// values follows what registers hold through the body. Where control joins,
// from a loop too, a register that may have been redefined holds something new.
func (a *analysis) values(code []*inst) {
	a.before = make([]map[string]value, len(code))
	state := map[string]value{}
	after := make([]map[string]value, len(code))
	for i, in := range code {
		if in.label != "" || len(a.prev[i]) != 1 || a.prev[i][0] != i-1 {
			state = a.join(i, code, after)
		}
		a.before[i] = state
		if defs := in.defs(); len(defs) > 0 {
			next := make(map[string]value, len(state)+1)
			for r, v := range state {
				next[r] = v
			}
			for k, r := range defs {
				v := a.result(i, k, in)
				if in.guard != "" && v != state[r] {
					v = a.unique("guarded", i, r)
				}
				next[r] = v
			}
			state = next
		}
		after[i] = state
	}
}

// join returns the state where several ways meet. Ways that come from below, of loops,
// may have redefined whatever the body defines between there and here.
func (a *analysis) join(i int, code []*inst, after []map[string]value) map[string]value {
	out := map[string]value{}
	first := true
	redefined := map[string]bool{}
	for _, p := range a.prev[i] {
		if p >= i {
			for _, in := range code[i : p+1] {
				for _, r := range in.defs() {
					redefined[r] = true
				}
			}
			continue
		}
		if first {
			for r, v := range after[p] {
				out[r] = v
			}
			first = false
			continue
		}
		for r, v := range after[p] {
			if out[r] != v {
				out[r] = a.unique("joined", i, r)
			}
		}
		for r := range out {
			if _, ok := after[p][r]; !ok {
				out[r] = a.unique("joined", i, r)
			}
		}
	}
	for r := range redefined {
		out[r] = a.unique("loop", i, r)
	}
	return out
}

func (a *analysis) name(s string) int {
	if len(s) > 200 {
		s = fmt.Sprint("long", len(a.names))
	}
	n, ok := a.names[s]
	if !ok {
		n = len(a.names) + 1
		a.names[s] = n
	}
	return n
}

func (a *analysis) unique(what string, i int, r string) value {
	return value{base: a.name(fmt.Sprint(what, " ", i, " ", r))}
}

// result returns the value of result k of an instruction.
func (a *analysis) result(i, k int, in *inst) value {
	if !in.pure() || len(in.args) < 2 || k > 0 {
		return a.unique("result", i, fmt.Sprint(k))
	}
	var args []value
	for _, s := range in.args[1:] {
		args = append(args, a.operand(i, s))
	}
	n := in.name()
	switch {
	case strings.HasPrefix(in.op, "ld.param"):
		return value{base: a.name("param " + in.address()), object: true}
	case n == "mov" && len(args) == 1 && !strings.HasPrefix(in.args[1], "{"):
		return args[0]
	case n == "add" && len(args) == 2 && args[1].base == 0:
		args[0].off += args[1].off
		return args[0]
	case n == "add" && len(args) == 2 && args[0].base == 0:
		args[1].off += args[0].off
		return args[1]
	}
	return value{base: a.name(fmt.Sprint(in.op, args))}
}

var plusOffset = regexp.MustCompile(`^(.*?)\s*\+\s*(-?\d+)$`)

// operand returns the value of an operand, or of the text of an address, at an
// instruction.
func (a *analysis) operand(i int, s string) value {
	if m := plusOffset.FindStringSubmatch(s); m != nil {
		v := a.operand(i, m[1])
		n, _ := strconv.ParseInt(m[2], 10, 64)
		v.off += n
		return v
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return value{off: n}
	}
	if register.FindString(s) == s && s != "" {
		if v, ok := a.before[i][s]; ok {
			return v
		}
		return a.unique("unset", 0, s)
	}
	return value{base: a.name("symbol " + s), object: true}
}
