package litmus

import "strings"

// table reads the program: the row of thread names and the rows of code.
func (p *parser) table() bool {
	declared := len(p.t.Threads)
	n := 0
	for {
		if !p.threadHead(n) {
			return false
		}
		n++
		if p.accept('|') {
			continue
		}
		if !p.expect(';', "| or ; in the row of thread names") {
			return false
		}
		break
	}
	if n < declared {
		th := &p.t.Threads[declared-1]
		pos := th.Pos
		if len(th.Regs) > 0 {
			pos = th.Regs[0].Pos
		}
		return p.errorf(pos, "register of thread %d, but the test has %d threads", th.ID, n)
	}
	rows := min(strings.Count(p.src[p.off:], ";")+1, 16)
	for i := range p.t.Threads {
		p.t.Threads[i].Body = make([]Instr, 0, rows)
	}
	p.ops = make([]Operand, 0, 2*rows*n)
	for !p.atTail() {
		if !p.row() && p.full() {
			return false
		}
	}
	return true
}

// threadHead reads one cell of the first row: P0 or P0@cta 0,gpu 0.
func (p *parser) threadHead(i int) bool {
	pos, text := p.pos(), p.tok.text
	if p.tok.kind != tWord && p.tok.kind != tNum {
		return p.errorf(pos, "expected a thread's name, found %s", p.found())
	}
	if i >= MaxThreads {
		return p.errorf(pos, "more than %d threads", MaxThreads)
	}
	id, ok := p.threadRef()
	if !ok {
		return false
	}
	if id != i {
		return p.errorf(pos, "thread %s stands in column %d: threads are numbered from 0 in order", text, i)
	}
	th := p.thread(i)
	th.Name, th.Pos = text, pos
	if p.accept('@') {
		return p.placement(th)
	}
	return true
}

// placement reads "cta 0,cluster 0,gpu 0" after the @.
func (p *parser) placement(th *Thread) bool {
	var given [5]bool
	var at [5]int
	for {
		level := -1
		switch {
		case p.tok.kind != tWord:
		case p.tok.text == "gpu":
			level = levelGPU
		case p.tok.text == "grid":
			level = levelGrid
		case p.tok.text == "cluster":
			level = levelCluster
		case p.tok.text == "cta":
			level = levelCTA
		case p.tok.text == "warp":
			level = levelWarp
		}
		if level < 0 {
			return p.errorf(p.pos(), "expected cta, cluster or gpu behind @, found %s", p.found())
		}
		if given[level] {
			return p.errorf(p.pos(), "second %s in the place of thread %s", p.tok.text, th.Name)
		}
		given[level] = true
		p.next()
		pos := p.pos()
		v, ok := p.constant()
		if !ok {
			return false
		}
		if v < 0 || v > 1<<20 {
			return p.errorf(pos, "number %d is not in 0 to %d", v, 1<<20)
		}
		at[level] = int(v)
		if !p.accept(',') {
			break
		}
	}
	if !given[levelCTA] {
		return p.errorf(th.Pos, "thread %s has no cta in its place", th.Name)
	}
	// Without clusters every CTA is alone in one, which has its number.
	if !given[levelCluster] {
		at[levelCluster], at[levelCTA] = at[levelCTA], 0
	}
	for i := range th.ID {
		if p.t.Threads[i].Placed && p.cluster[i] != given[levelCluster] {
			return p.errorf(th.Pos, "thread %s: either all threads name their cluster or none", th.Name)
		}
	}
	th.Placed = true
	th.Place = Place{at[levelGPU], at[levelGrid], at[levelCluster], at[levelCTA], at[levelWarp]}
	p.cluster[th.ID] = given[levelCluster]
	if !given[levelWarp] {
		th.Place.Warp = nextWarp(p.t.Threads[:th.ID], th.Place)
	}
	return true
}

// atTail reports whether the current token is after the table's last row.
func (p *parser) atTail() bool {
	switch p.tok.kind {
	case tEOF, '(', '~':
		return true
	case tWord:
		if p.tok.text == "not" { // not exists, or the instruction
			return p.ahead(1).text == "exists"
		}
		return reserved(p.tok.text) || p.atMap()
	}
	return false
}

// ahead returns the token n places after the current one.
func (p *parser) ahead(n int) token {
	saved, errs := p.lexer, len(p.errs)
	for range n {
		p.next()
	}
	t := p.tok
	p.lexer, p.errs = saved, p.errs[:errs]
	return t
}

// atMap reports whether an entry of the memory map is next: x: global. A label looks the same
// up to the colon, but no instruction is called global.
func (p *parser) atMap() bool {
	if p.tok.kind != tWord || p.peek() != ':' {
		return false
	}
	t := p.ahead(2)
	_, ok := spaceOf(t.text)
	return ok && t.kind == tWord
}

// row reads one row of code. After a fault it continues with the next cell.
func (p *parser) row() bool {
	pos := p.pos()
	ok := true
	for i := 0; ; i++ {
		if i == len(p.t.Threads) {
			if ok { // else the fault may have been a stray |
				ok = p.errorf(p.pos(), "row has more cells than the test has threads (%d)", i)
			}
			p.skipTo(false)
			break
		}
		if p.tok.kind != '|' && p.tok.kind != ';' && !p.cell(&p.t.Threads[i]) {
			ok = false
			p.skipTo(true)
		}
		if p.tok.kind == '|' {
			p.next()
			continue
		}
		if p.tok.kind == ';' && i+1 < len(p.t.Threads) {
			ok = p.errorf(pos, "row has %d cells, but the test has %d threads", i+1, len(p.t.Threads))
		}
		break
	}
	if p.tok.kind == ';' {
		p.next()
		return ok
	}
	if p.tok.kind == tEOF && ok {
		return p.errorf(p.pos(), "row is not closed by ;")
	}
	return ok
}

// skipTo skips everything up to the next ; or, if cell is set, |.
func (p *parser) skipTo(cell bool) {
	for p.tok.kind != ';' && p.tok.kind != tEOF && (!cell || p.tok.kind != '|') {
		p.next()
	}
}

// cell reads labels, guard and instruction of one cell.
func (p *parser) cell(th *Thread) bool {
	if p.instrs++; p.instrs > MaxInstrs {
		p.errs = append(p.errs[:min(len(p.errs), maxErrors)], &Error{p.pos(), "too many instructions"})
		p.tok.kind = tEOF
		p.off = len(p.src)
		return false
	}
	th.Body = append(th.Body, Instr{Pos: p.pos()})
	in := &th.Body[len(th.Body)-1]
	for p.tok.kind == tWord && p.peek() == ':' {
		if !isIdent(p.tok.text) {
			return p.errorf(p.pos(), "%s cannot be a label", p.tok.text)
		}
		in.Labels = append(in.Labels, p.tok.text)
		p.next()
		p.next()
		if p.tok.kind == '|' || p.tok.kind == ';' {
			return true // OpNop carries the label
		}
	}
	in.Pos = p.pos()
	if p.t.Dialect == OpenCL {
		return p.cCell(th, in) && p.legal(in, &mods{}, in.Pos)
	}
	if p.accept('@') {
		g := &Guard{Neg: p.accept('!')}
		g.Reg = p.tok.text
		if p.tok.kind != tWord || !isIdent(g.Reg) {
			return p.errorf(p.pos(), "expected a predicate behind @, found %s", p.found())
		}
		p.next()
		in.Guard = g
	}
	if p.tok.kind != tWord {
		return p.errorf(p.pos(), "expected an instruction, found %s", p.found())
	}
	for word := p.tok.text; in.dress(word); word = p.tok.text {
		if p.next(); p.tok.kind != tWord {
			return p.errorf(p.pos(), "expected an instruction behind %s, found %s", word, p.found())
		}
	}
	if !p.instr(th, in) {
		return false
	}
	if p.tok.kind != '|' && p.tok.kind != ';' {
		return p.errorf(p.pos(), "expected | or ; behind the instruction, found %s", p.found())
	}
	return true
}
