package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// checkCode compares what the machine code stores and combines, and when it performs each access and fence, with what
// the test's thread computes: it evaluates both for the same words. Where the test is not known, the digest in the
// code says what the test computes.
func checkCode(p *pass) {
	c := &comparison{p: p, e: newEvaluator(p)}
	for _, m := range p.tr.markers {
		if p.tr.pool.garbage(m.oper) {
			p.undecided("the operand of marker 0x%08x may be a register that was never written", m.m.Literal)
		}
	}
	switch {
	case p.s.Code != nil:
		c.against(p.s.Code)
	case p.s.Digest == 0:
		p.undecided("the code carries no digest of the values and conditions of the test; name the test with --against")
	default:
		c.digest()
	}
}

// undecided records why a kernel without findings may still not be the test.
func (p *pass) undecided(why string, args ...any) {
	if p.r.Undecided == "" {
		p.r.Undecided = fmt.Sprintf(why, args...)
	}
}

// comparison compares a thread's actions with those of the machine code.
type comparison struct {
	p *pass
	e *evaluator
	// open lists the entries that have to be evaluated.
	open []int
}

// eventOf returns the event of an access or fence, -1 for none.
func (p *pass) eventOf(k int) int {
	if !p.s.Entries[k].IsFence() {
		return p.match[k]
	}
	for ev, ks := range p.owner {
		if slices.Contains(ks, k) {
			return ev
		}
	}
	return -1
}

// against compares the machine code with the code of the test.
func (c *comparison) against(code *spec.Code) {
	for k := range c.p.s.Entries {
		told := c.p.found(ControlChanged, k) || c.p.found(ValueChanged, k)
		if !told && c.p.eventOf(k) >= 0 && !c.plain(k, code) {
			c.open = append(c.open, k)
		}
	}
	if len(c.open) == 0 {
		return
	}
	s, test := newSampler(c, code), code.Runner()
	for s.next() {
		c.e.set(s)
		want := test.Run(c.e)
		if c.e.failed {
			c.unread(c.open...)
			return
		}
		c.open = slices.DeleteFunc(c.open, func(k int) bool { return !c.same(k, want[k], s) })
		if len(c.open) == 0 {
			return
		}
	}
}

// plain reports whether an entry needs no evaluation: it always runs, and its operands are unmodified parameters.
func (c *comparison) plain(k int, code *spec.Code) bool {
	p := c.p
	e, x := p.s.Entries[k], &p.tr.events[p.eventOf(k)]
	if e.Guarded || x.cond {
		return false
	}
	if e.Reads() && !c.holds(k) {
		return false
	}
	if !e.Writes() {
		return true
	}
	words := e.Kind.Width / 4
	if words == 0 {
		return false
	}
	for i := range len(x.data) / words {
		v, ok := code.Plain(k, i)
		if !ok || v.Bytes != e.Kind.Width {
			return false
		}
		for w := range words {
			n := p.tr.pool.nodes[x.data[i*words+w]]
			if n.kind != kParam || int64(n.imm) != v.Offset+int64(4*w) {
				return false
			}
		}
	}
	return true
}

// unread records that entries could not be compared.
func (c *comparison) unread(ks ...int) {
	for _, k := range ks {
		p := c.p
		ev := p.eventOf(k)
		rule, what := ValueUnread, "what is stored or combined"
		if p.tr.events[ev].cond {
			rule, what = ConditionUnread, "the condition"
		}
		p.report(rule, k, ev, "%s: %s of %s could not be read: %s", p.name(k), what, p.text(ev), c.e.why())
		p.undecided("%s: %s could not be compared with the test", p.name(k), what)
	}
}

// same reports whether the machine code does what the test does at an entry. If not, it reports the difference, and
// the entry is not compared again.
func (c *comparison) same(k int, want spec.Action, s *sampler) bool {
	p := c.p
	ev := p.eventOf(k)
	got, ok := c.action(k, ev)
	switch {
	case !ok:
		c.unread(k)
	case got.Runs && !want.Runs && p.s.Entries[k].IsFence() && p.s.Entries[k].Kind.Op != litmus.OpBar:
		p.report(Strengthened, k, ev, "%s is executed also when the test does not: %s", p.name(k), p.text(ev))
	case got.Runs != want.Runs:
		p.report(ControlChanged, k, ev, "%s is executed under another condition: for instance when %s: %s", p.name(k), c.instance(s), p.text(ev))
	case len(got.Operands) > len(want.Operands):
		p.report(ValueChanged, k, ev, "%s has %d operands: %s", p.name(k), len(got.Operands), p.text(ev))
	default:
		for i := range got.Operands {
			if kind := p.s.Entries[k].Kind; kind.Cut(got.Operands[i]) != kind.Cut(want.Operands[i]) {
				p.report(ValueChanged, k, ev, "%s: %s is another one than in the test, for instance 0x%x instead of 0x%x when %s: %s", p.name(k),
					operandName(p.s.Entries[k], i),
					kind.Cut(got.Operands[i]), kind.Cut(want.Operands[i]), c.instance(s), p.text(ev))
				return false
			}
		}
		return !p.s.Entries[k].Reads() || c.holds(k) || c.sameRegister(k, want, s)
	}
	return false
}

// holds reports whether the register of an access always holds what the access read.
func (c *comparison) holds(k int) bool {
	p := c.p
	if _, ok := c.e.results[p.oper[k]]; ok || p.oper[k] == none {
		return true
	}
	n := p.tr.pool.nodes[p.oper[k]]
	if n.kind != kLoad {
		return false // a word that is read is matched to what reads it
	}
	_, cleared := p.tr.zeroExtended(int(n.a))
	return cleared || p.s.Entries[k].Kind.Width >= 4
}

// sameRegister reports whether the register that an access reads into holds the word read if the access runs, and
// otherwise its old content or the filler that the kernel gave the marker. If not, it reports the difference.
func (c *comparison) sameRegister(k int, want spec.Action, s *sampler) bool {
	p := c.p
	ev := p.match[k]
	got, ok := c.e.eval(p.oper[k], 0)
	is := s.Read(c.e.position(p.tr.events[ev].read), p.word[k])
	if kind := p.s.Entries[k].Kind; kind.Width < 4 {
		is = uint32(kind.Cut(int64(is)))
	}
	switch {
	case !ok:
		p.report(ValueUnread, k, ev, "%s: what its register holds could not be read: %s", p.name(k), c.e.why())
		p.undecided("%s: what its register holds could not be compared with the test", p.name(k))
		return false
	case want.Runs && got == is, !want.Runs && (got == uint32(want.Old) || got == c.e.token()):
		return true
	case want.Runs:
		p.report(ValueChanged, k, ev, "%s: its register does not hold what it reads, for instance 0x%x instead of 0x%x when %s: %s", p.name(k),
			got, is, c.instance(s), p.text(ev))
	default:
		p.report(ValueChanged, k, ev, "%s: its register is not left alone when it is skipped, for instance when %s: %s", p.name(k), c.instance(s),
			p.text(ev))
	}
	return false
}

func operandName(e spec.Entry, i int) string {
	switch {
	case e.Kind.Op == litmus.OpSt:
		return "the value"
	case e.Kind.Atom == litmus.AtomCAS:
		return [...]string{"the value compared with", "the new value"}[min(i, 1)]
	}
	return fmt.Sprintf("operand %d", i)
}

// instance describes what accesses read in the current sample.
func (c *comparison) instance(s *sampler) string {
	var list []string
	for i := range c.p.s.Entries {
		if s.asked[[2]int{i, 0}] {
			list = append(list, fmt.Sprintf("%s reads 0x%x", c.p.name(i), s.Read(i, 0)))
		}
	}
	if len(list) == 0 {
		return "parameters are of no special kind"
	}
	return strings.Join(list, " and ")
}

// action returns what the machine code does at an entry for the current words.
func (c *comparison) action(k, ev int) (a spec.Action, ok bool) {
	p := c.p
	x, e := &p.tr.events[ev], p.s.Entries[k]
	a.Runs = true
	if x.condT != 0 || !x.mem.Locked && !(isAtomic(e) && p.byLane(x)) {
		for _, s := range x.when {
			if isAtomic(e) && p.tr.pool.lane(s.pred) {
				continue // the lane that performs it for its warp
			}
			v, ok := c.e.eval(s.pred, 0)
			if !ok {
				return a, false
			}
			a.Runs = a.Runs && (v != 0) == s.want
		}
	}
	if !a.Runs || !e.Writes() || e.Kind.Atom >= litmus.AtomIncOne {
		return a, true
	}
	if a.Operands, ok = c.operands(e, x); ok && !x.mem.Locked {
		return a, true
	}
	// A warp's combined operands, or the loop of a lock: taken from the markers, since other rules have checked that
	// they are computed.
	a.Operands = nil
	for _, v := range p.marked(k) {
		lo, ok := c.e.eval(v, 0)
		if !ok {
			return a, false
		}
		hi := uint32(0)
		if n := p.tr.pool.nodes[v]; e.Kind.Width == 8 && n.kind == kParam {
			hi = c.e.Param(int64(n.imm) + 4)
		} else if e.Kind.Width == 8 {
			return a, false
		}
		a.Operands = append(a.Operands, int64(uint64(hi)<<32|uint64(lo)))
	}
	return a, true
}

// marked returns the operands of an atomic according to its markers: one lane's where the machine code combines those
// of a warp, and the test's where a loop around a lock computes what is stored.
func (p *pass) marked(k int) (list []value) {
	e := &p.s.Entries[k]
	if e.Kind.Op != litmus.OpAtom {
		return []value{p.oper[k]}
	}
	for _, i := range e.Operands() {
		v, ok := p.extra[[2]int{k, i}]
		if !ok {
			v = none
		}
		list = append(list, v)
	}
	return list
}

// operands evaluates what an access writes.
func (c *comparison) operands(e spec.Entry, x *event) (list []int64, ok bool) {
	words := max(e.Kind.Width/4, 1)
	if len(x.data)%words != 0 || x.mem.Width != e.Kind.Width {
		return nil, false
	}
	for i := 0; i < len(x.data); i += words {
		var v uint64
		for w := range words {
			y, ok := c.e.eval(x.data[i+w], 0)
			if !ok {
				return nil, false
			}
			v |= uint64(y) << (32 * w)
		}
		list = append(list, int64(v))
	}
	return list, true
}

// digest compares the machine code with the digest that it carries.
func (c *comparison) digest() {
	p := c.p
	d := &spec.Digester{}
	for k, e := range p.s.Entries {
		ev := p.eventOf(k)
		if ev < 0 && (!e.IsFence() || e.Kind.Op == litmus.OpBar) {
			return // reported as missing
		}
		if e.IsFence() && e.Guarded && ev >= 0 && p.tr.events[ev].cond {
			p.undecided("the condition of %s is not in the specification that the code carries; name the test with --against", p.name(k))
			return
		}
		if ev >= 0 {
			e.Signed, e.Threads = p.signed(k, ev), p.tr.arch.barrier(p.inst(ev))
		}
		d.Entry(e)
	}
	for i := range spec.Sample(spec.Samples) {
		c.e.set(lone{i, p.s.ResultParam()})
		for k, e := range p.s.Entries {
			ev := p.eventOf(k)
			if e.IsFence() && e.Kind.Op != litmus.OpBar {
				continue
			}
			a, ok := c.action(k, ev)
			if !ok {
				c.unread(k)
				return
			}
			d.Action(e, i, a)
		}
	}
	if d.Sum() != p.s.Digest {
		p.undecided("values, conditions or types are not those of the test: their digest is %#x instead of %#x; name the test with --against"+
			" to learn which", d.Sum(), p.s.Digest)
		return
	}
	for v := range p.tr.pool.nodes {
		if n := p.tr.pool.nodes[v]; n.kind == kCmp {
			for _, x := range []value{n.a, n.b} {
				if k, ok := p.tr.pool.isConst(x); ok && !spec.IsSpecial(k) && p.tr.pool.reads(value(v)) {
					p.undecided("a condition compares with 0x%x, which the digest does not decide; name the test with --against", k)
				}
			}
		}
	}
}

// lone provides the words for which a digest is made. Parameter offsets count from the first one that stands for a
// constant.
type lone struct {
	spec.Sample
	by int64
}

// Param implements spec.Words.
func (l lone) Param(off int64) uint32 { return l.Sample.Param(off - l.by) }

// signed reports whether a minimum or maximum compares signed numbers.
func (p *pass) signed(k, ev int) bool {
	a := p.s.Entries[k].Kind.Atom
	return (a == litmus.AtomMin || a == litmus.AtomMax) && p.tr.events[ev].mem.Type == isa.AtomSigned
}
