package hazard

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"optcheck/internal/limits"
	"optcheck/isa"
)

// Dependency is what one instruction waits for before it uses registers of an earlier one.
type Dependency struct {
	Kind     Kind
	From, To int // instructions of the function
	Regs     []isa.Reg
	// Board is the scoreboard that To waits for, if Kind is SetWait.
	Board uint8
	// Cycles is the least time between the two issues, Need what the table asks for, 0 if only a scoreboard tells.
	Cycles, Need int
	Broken       bool
	Settling     bool // see Finding
}

// Slack is how many cycles more than needed the second instruction waits.
func (d *Dependency) Slack() int { return d.Cycles - d.Need }

// String says who waits for whom, without the second instruction.
func (d *Dependency) String(fn *isa.Func) string {
	from := &fn.Insts[d.From]
	s := fmt.Sprintf("waits for scoreboard %d of %04x %s", d.Board, from.Addr, from.Op)
	if d.Kind != SetWait {
		verb := map[Kind]string{RAW: "reads", WAW: "overwrites", WAR: "overwrites"}[d.Kind]
		var regs []string
		for _, r := range d.Regs {
			regs = append(regs, r.String())
		}
		s = fmt.Sprintf("%s %s of %04x %s", verb, strings.Join(regs, ","), from.Addr, from.Op)
	}
	switch {
	case d.Settling:
		return s + fmt.Sprintf(": HAZARD: %d cycles behind the DEPBAR that waits for it, needs %d", d.Cycles, d.Need)
	case d.Broken && d.Need > 0 && (d.Kind != WAR || d.Cycles < d.Need):
		return s + fmt.Sprintf(": HAZARD: %d cycles behind, needs %d", d.Cycles, d.Need)
	case d.Broken:
		return s + ": HAZARD: nothing waits for it"
	case d.Need > 0:
		return s + fmt.Sprintf(": %d cycles behind, needs %d, slack %d", d.Cycles, d.Need, d.Slack())
	}
	return s + fmt.Sprintf(": %d cycles behind", d.Cycles)
}

// boardOf is the first scoreboard of one instruction that another waits for.
func boardOf(from, to *isa.Inst) uint8 {
	set := (board(from.Control.Write) | board(from.Control.Read)) & to.Control.Wait
	if set == 0 {
		return isa.NoBarrier
	}
	return uint8(bits.TrailingZeros8(set))
}

// Dependencies lists what the instructions of a function wait for, by instruction: scoreboards, and fixed latencies that are
// not long over; and what is broken. The error says why nothing is known.
func Dependencies(fn *isa.Func) ([]Dependency, error) {
	t, why := tableOf(fn)
	if t == nil {
		return nil, errors.New(why)
	}
	var list []Dependency
	type pair struct {
		kind     Kind
		from, to int
	}
	at := map[pair]int{}
	ok := follow(fn, t, limits.Now().Steps, 0, func(d dep) {
		need, broken, _ := t.judge(fn, d)
		if !broken && (d.stale || d.kind != SetWait && !d.fixed || d.kind != SetWait && d.cycles >= horizon) {
			return
		}
		p := pair{d.kind, d.from, d.to}
		i, seen := at[p]
		if !seen {
			i = len(list)
			at[p] = i
			x := Dependency{Kind: d.kind, From: d.from, To: d.to, Board: isa.NoBarrier, Cycles: d.cycles, Need: need, Settling: d.settling}
			if d.kind == SetWait {
				x.Board = boardOf(&fn.Insts[d.from], &fn.Insts[d.to])
			}
			list = append(list, x)
		}
		x := &list[i]
		x.Cycles, x.Need, x.Broken = min(x.Cycles, d.cycles), max(x.Need, need), x.Broken || broken
		if d.kind != SetWait && !slices.Contains(x.Regs, d.reg) {
			x.Regs = append(x.Regs, d.reg)
		}
	})
	if !ok {
		return nil, errors.New(manyPaths)
	}
	slices.SortStableFunc(list, func(a, b Dependency) int { return cmp.Or(a.To-b.To, a.From-b.From, int(a.Kind)-int(b.Kind)) })
	return list, nil
}

// Write writes the instructions of a program with their control codes, and under each what it waits for.
func Write(w io.Writer, prog *isa.Program) error {
	b := bufio.NewWriter(w)
	for _, fn := range prog.Funcs {
		fmt.Fprintf(b, "function %s %s, %d instructions\n", fn.Name, fn.Arch, len(fn.Insts))
		list, err := Dependencies(fn)
		if err != nil {
			fmt.Fprintf(b, "  nothing is known of its registers: %v\n", err)
		}
		for i := range fn.Insts {
			in := &fn.Insts[i]
			fmt.Fprintf(b, "  %04x  %s  %s\n", in.Addr, in.Control, in.Text)
			for len(list) > 0 && list[0].To == i {
				fmt.Fprintf(b, "          %s\n", list[0].String(fn))
				list = list[1:]
			}
		}
	}
	return b.Flush()
}
