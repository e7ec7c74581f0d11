package litmus

import (
	"bytes"
	"strconv"
)

// String formats the test in its own dialect. Parsing the result yields the same test, except
// for positions; formatting that yields the same text. In dialect GPU_PTX, whose scope tree has
// no numbers, places are renumbered in the order of the threads.
func (t *Test) String() string { return string(t.Append(nil)) }

// Append appends the test's text to b.
func (t *Test) Append(b []byte) []byte {
	b = append(append(append(b, t.Dialect.String()...), ' '), t.Name...)
	b = append(b, '\n')
	if t.Doc != "" {
		b = append(append(append(b, '"'), t.Doc...), "\"\n"...)
	}
	for _, m := range t.Meta {
		b = append(append(append(append(b, m.Key...), '='), m.Value...), '\n')
	}
	if t.Results == ResultsFinal {
		b = append(b, resultsKey+"=final\n"...)
	}
	if t.Registers > 0 {
		b = append(strconv.AppendUint(append(b, registersKey+"="...), uint64(t.Registers), 10), '\n')
	}
	b = t.appendInit(append(b, "{\n"...))
	b = t.appendTable(append(b, "}\n"...))
	if t.Dialect.declared() {
		b = t.appendTree(b)
	}
	b = t.appendMap(b)
	return t.appendCond(b)
}

func (t *Test) appendInit(b []byte) []byte {
	for i := range t.Locations {
		l := &t.Locations[i]
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, l.Name...)
		if l.Alias != "" {
			b = append(append(append(b, " @ "...), l.Proxy.String()...), " aliases "...)
			b = append(b, l.Alias...)
		} else if l.Of != "" {
			b = strconv.AppendInt(append(append(append(b, '='), l.Of...), '+'), l.Offset, 10)
		} else {
			b = appendConst(append(b, '='), l.Init)
		}
		b = append(b, ';')
	}
	if len(t.Locations) > 0 {
		b = append(b, '\n')
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		for j := range th.Regs {
			if j > 0 {
				b = append(b, ' ')
			}
			b = t.appendReg(b, th, &th.Regs[j])
		}
		if len(th.Regs) > 0 {
			b = append(b, '\n')
		}
	}
	return b
}

func (t *Test) appendReg(b []byte, th *Thread, d *RegDecl) []byte {
	if t.Dialect == PTX {
		b = append(b, th.Name...)
	} else {
		b = strconv.AppendInt(b, int64(th.ID), 10)
	}
	b = append(b, ':')
	if t.Dialect == OpenCL && d.Type != TypeNone {
		return appendCDecl(b, d)
	}
	if d.Type != TypeNone {
		b = append(append(append(b, ".reg ."...), d.Type.String()...), ' ')
	}
	b = append(b, d.Name...)
	if d.Init.Kind != OperandNone {
		if d.Type != TypeNone {
			b = append(b, " = "...)
		} else {
			b = append(b, '=')
		}
		b = appendOperand(b, d.Init)
	}
	return append(b, ';')
}

// appendTable prints the columns of code, each as wide as its widest cell up to
// a limit.
func (t *Test) appendTable(b []byte) []byte {
	n := len(t.Threads)
	if n == 0 {
		return b
	}
	rows := 0
	widths := make([]int, n)
	head := make([][]byte, n)
	for i := range t.Threads {
		head[i] = t.appendHead(nil, i)
		widths[i] = len(head[i])
		rows = max(rows, len(t.Threads[i].Body))
	}
	cells := make([][]byte, rows*n)
	rows = 0
	for i := range t.Threads {
		th, row := &t.Threads[i], 0
		for j := 0; j < len(th.Body); row++ {
			parts := th.Parts(j)
			c := t.appendCell(nil, parts)
			cells[row*n+i] = c
			widths[i] = max(widths[i], len(c))
			j += len(parts)
		}
		rows = max(rows, row)
	}
	// Alignment is for readers; it must not inflate large tests.
	for i := range widths {
		if widths[i] = min(widths[i], 60); rows*n > 1<<14 {
			widths[i] = 0
		}
	}
	b = appendRow(b, head, widths)
	for j := range rows {
		b = appendRow(b, cells[j*n:(j+1)*n], widths)
	}
	return b
}

func appendRow(b []byte, cells [][]byte, widths []int) []byte {
	for i, c := range cells {
		if i > 0 {
			b = append(b, " |"...)
		}
		b = append(append(b, ' '), c...)
		b = append(b, bytes.Repeat([]byte{' '}, max(widths[i]-len(c), 0))...)
	}
	return append(b, " ;\n"...)
}

func (t *Test) appendCell(b []byte, parts []Instr) []byte {
	in := &parts[0]
	for i, l := range in.Labels {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, l...), ':')
	}
	if len(in.Labels) > 0 {
		if in.Op == OpNop && in.Guard == nil {
			return b
		}
		b = append(b, ' ')
	}
	if t.Dialect == OpenCL {
		return appendC(b, in)
	}
	return appendInstr(b, parts, t.Dialect)
}

// appendHead prints the name of a thread and, in dialect PTX, its place.
func (t *Test) appendHead(b []byte, i int) []byte {
	th := &t.Threads[i]
	b = append(b, th.Name...)
	if t.Dialect != PTX || !th.Placed {
		return b
	}
	p := th.Place
	item := func(word string, n int) {
		b = strconv.AppendInt(append(append(b, word...), ' '), int64(n), 10)
	}
	if t.clustered() {
		item("@cta", p.CTA)
		item(",cluster", p.Cluster)
	} else {
		item("@cta", p.Cluster)
	}
	if p.Grid != 0 {
		item(",grid", p.Grid)
	}
	item(",gpu", p.GPU)
	if p.Warp != nextWarp(t.Threads[:i], p) {
		item(",warp", p.Warp)
	}
	return b
}

// appendTree prints the scope tree of the placed threads.
func (t *Test) appendTree(b []byte) []byte {
	top, placed := levelGrid, false
	skipCluster := true
	var first Place
	seen := map[[3]int]Place{} // cluster → place of its first thread
	for i := range t.Threads {
		th := &t.Threads[i]
		if !th.Placed {
			continue
		}
		if !placed {
			first, placed = th.Place, true
		}
		if !th.Place.SameGrid(first) {
			top = levelGPU
		}
		c := [3]int{th.Place.GPU, th.Place.Grid, th.Place.Cluster}
		if q, ok := seen[c]; ok && q.CTA != th.Place.CTA {
			skipCluster = false
		} else if !ok {
			seen[c] = th.Place
		}
	}
	if !placed {
		return b
	}
	b = append(b, "ScopeTree"...)
	done := make([]bool, len(t.Threads))
	b = t.appendNodes(b, top, levelGPU, done, nil, skipCluster)
	return append(b, '\n')
}

var levelNames = [...]string{"gpu", "grid", "cluster", "cta", "warp"}

// appendNodes prints, as "(level …) (level …)", the nodes of that level that
// hold threads which share the levels above with inside (nil: any).
func (t *Test) appendNodes(b []byte, level, above int, done []bool, inside *[5]int, skipCluster bool) []byte {
	if level == levelCluster && skipCluster {
		level++
	}
	firstNode := true
	for i := range t.Threads {
		th := &t.Threads[i]
		path := th.Place.path()
		if !th.Placed || done[i] || inside != nil && sharedLevels(path, *inside) < above {
			continue
		}
		if !firstNode {
			b = append(b, ' ')
		}
		firstNode = false
		b = append(append(b, '('), levelNames[level]...)
		if level < levelWarp {
			b = t.appendNodes(b, level+1, level+1, done, &path, skipCluster)
		} else {
			for j := range t.Threads {
				if t.Threads[j].Placed && t.Threads[j].Place == th.Place {
					b = append(append(b, ' '), t.Threads[j].Name...)
					done[j] = true
				}
			}
		}
		b = append(b, ')')
	}
	return b
}

func (t *Test) appendMap(b []byte) []byte {
	n := 0
	for i := range t.Locations {
		l := &t.Locations[i]
		if l.Space == Generic && !l.Homed || l.Of != "" {
			continue
		}
		if n++; n > 1 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, l.Name...), ": "...), max(l.Space, Global).String()...)
		if l.Homed {
			b = strconv.AppendInt(append(b, "@device "...), int64(l.Device), 10)
		}
	}
	if n > 0 {
		b = append(b, '\n')
	}
	return b
}
