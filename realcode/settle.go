package realcode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/ptx"
	"optcheck/refine"
)

// write is an operation of the PTX that writes memory, or may.
type write struct {
	n    int // ptx.Inst.N
	at   *Place
	lost bool // nothing of it was found in the machine code
	// never reports whether nothing comes to it, whatever the input is.
	never func() bool
	code  []uint64 // addresses of the machine instructions that are its counterparts
}

// writes are the operations of a kernel that write memory.
func (c *checker) writes() (out []write) {
	if c.matcher == nil {
		return nil
	}
	for i, op := range c.src.ops {
		switch op.Effect.Kind {
		case ptx.Store, ptx.Atomic, ptx.Reduction, ptx.Copy, ptx.Bulk, ptx.MbarArrive:
			w := write{n: op.Inst.N, at: c.place(i), lost: slices.Contains(c.lost, i), never: func() bool { return c.src.never(op) }}
			for at, owner := range c.owner {
				if int(owner) == i {
					w.code = append(w.code, c.mach.insts[at].Addr)
				}
			}
			out = append(out, w)
		}
	}
	return out
}

// shape is an operation of which the form of the code alone tells how often it is performed, unless execution does.
type shape struct {
	at   *Place
	code []Code
	why  string
}

// shapes are those of a kernel.
func (c *checker) shapes() (out []shape) {
	if c.matcher == nil {
		return nil
	}
	for k := range c.img {
		g, op := &c.img[k], c.src.ops[k]
		why := g.shape
		switch {
		case why != "" || !op.strong():
		case g.moved:
			why = "its address alone tells which instruction it is"
		case op.barrier.root != "":
			why = "which mbarrier it is about is not compared otherwise"
		}
		if why != "" {
			s := shape{at: c.place(k), why: why}
			for _, i := range g.main {
				s.code = append(s.code, Code{c.name, c.mach.insts[i].Addr, c.mach.insts[i].Text})
			}
			out = append(out, s)
		}
	}
	return out
}

// unshown is an operation that is known by the form of the code alone, and of which some instruction may be come to and was not performed by any
// run that was compared; nil if there is none.
func (k *Kernel) unshown(performed func(addr uint64) bool) *Finding {
	for i := range k.shapes {
		s := &k.shapes[i]
		if j := slices.IndexFunc(s.code, func(c Code) bool { return !performed(c.Addr) }); j >= 0 {
			return &Finding{Rule: Uncompared, Kernel: k.Name, First: s.at, Code: s.code[j : j+1],
				Detail: "no run shows how often it is performed: " + s.why}
		}
	}
	return nil
}

// settle makes unknown what is not known of a result: operations that write memory and that no run performed which was compared. If
// kernels were not executed, only those of which nothing was found in the machine code, and those that are known by the form of the code.
func (r *Result) settle(executed bool) {
	for i := range r.Kernels {
		k := &r.Kernels[i]
		f := k.open(r)
		if at := slices.IndexFunc(r.Executed, func(x Executed) bool { return x.Kernel == k.Name }); at >= 0 {
			x := &r.Executed[at]
			if f == nil {
				f = k.unseen(x)
			}
			if f == nil {
				f = k.undecided(x)
			}
			if f == nil && !x.proved() && (x.Result == nil || len(x.Findings) == 0) {
				f = k.unshown(func(addr uint64) bool {
					return x.Result != nil && (x.Performed[addr] || slices.Contains(x.Unreached, addr))
				})
			}
		} else if f == nil {
			f = k.unexecuted(executed)
		}
		if f != nil {
			k.Unknown = append(k.Unknown, *f)
			r.Unknown = append(r.Unknown, *f)
		}
	}
}

// open is the first of the findings of a kernel that only runs decide, and that none has decided; nil if there is none. What they are about
// is unknown, unless execution finds a difference: then they are a part of it.
func (k *Kernel) open(r *Result) *Finding {
	x := slices.IndexFunc(k.Findings, func(f Finding) bool { return f.computed })
	if x < 0 || slices.ContainsFunc(k.Findings, func(f Finding) bool { return f.Execution != nil }) {
		return nil
	}
	f := k.Findings[x]
	k.Findings = slices.DeleteFunc(k.Findings, func(g Finding) bool { return g.computed })
	r.Findings = slices.DeleteFunc(r.Findings, func(g Finding) bool { return g.computed && g.Kernel == k.Name })
	return &f
}

// unexecuted is what is not known of a kernel that was not executed, or of a function that no kernel calls.
func (k *Kernel) unexecuted(all bool) *Finding {
	why := "nothing was executed"
	if all {
		why = "no kernel calls the function"
	}
	f := k.uncompared(func(w *write) bool { return all || w.lost }, why)
	if f == nil {
		f = k.unshown(func(uint64) bool { return false })
	}
	return f
}

// unseen is what is not known of a kernel that was executed, or was tried to be.
func (k *Kernel) unseen(x *Executed) *Finding {
	switch {
	case x.Result != nil && len(x.Findings) > 0:
		return nil // the difference says more
	case x.proved():
		return nil // on every input
	case x.Why != "":
		return k.uncompared(func(*write) bool { return true }, oneLineText(x.Why))
	}
	why := x.hindrance()
	if len(x.Undefined) == len(x.Unseen) && why == "" {
		why = "in each run what they write is undefined in PTX, as what nobody has written is, or a value of a lane that takes no part"
	}
	if f := k.uncompared(func(w *write) bool { return slices.Contains(x.Unseen, w.n) }, why); f != nil || len(x.Unwritten) == 0 {
		return f
	}
	left := slices.DeleteFunc(slices.Clone(x.Unwritten), func(c refine.Code) bool {
		return slices.ContainsFunc(k.writes, func(w write) bool { return slices.Contains(w.code, c.Addr) && w.never() })
	})
	if len(left) == 0 {
		return nil
	}
	return &Finding{Rule: Uncompared, Kernel: k.Name, Code: []Code{{Func: k.Name, Addr: left[0].Addr, Text: left[0].Text}},
		Detail: fmt.Sprintf("%d instructions of the machine code that write memory were performed by no run", len(left))}
}

// hindrance is what kept most of the runs that say nothing from saying something; "" if there are none.
func (x *Executed) hindrance() (why string) {
	for _, reason := range slices.Sorted(maps.Keys(x.Cannot)) {
		if why == "" || x.Cannot[reason] > x.Cannot[why] {
			why = reason
		}
	}
	return oneLineText(why)
}

// undecided is a condition of a kernel that may be another one in the machine code: nil if there is none.
func (k *Kernel) undecided(x *Executed) *Finding {
	if x.Result == nil || x.Proved || len(x.Findings) > 0 || len(x.undecided) == 0 {
		return nil
	}
	return &Finding{Rule: Uncompared, Kernel: k.Name, First: &x.undecided[0],
		Detail: fmt.Sprintf("%d conditions of which runs did not show both outcomes and the border, and that may be others in the machine code",
			len(x.undecided))}
}

// uncompared names the first of some writes, with the lines of others; nil if there are none.
func (k *Kernel) uncompared(is func(*write) bool, why string) *Finding {
	var first *write
	var lines []string
	n := 0
	for i := range k.writes {
		w := &k.writes[i]
		if !is(w) || w.never() {
			continue
		}
		if n++; first == nil {
			first = w
		} else if len(lines) < 5 {
			lines = append(lines, fmt.Sprint(w.at.Pos.Line))
		}
	}
	if first == nil {
		return nil
	}
	f := &Finding{Rule: Uncompared, Kernel: k.Name, First: first.at,
		Detail: fmt.Sprintf("%d of %d operations that write memory were performed by no run that was compared", n, len(k.writes))}
	if len(lines) > 0 {
		f.Detail += " (lines " + strings.Join(lines, ", ") + " …)"
	}
	if why != "" {
		f.Detail += ": " + cut(why, 200)
	}
	return f
}
