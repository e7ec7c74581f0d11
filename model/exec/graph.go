package exec

import (
	"optcheck/litmus"
	"optcheck/model/rel"
)

// graph is one path per thread with everything that does not depend on choices.
type graph struct {
	p      *Program
	paths  []*Path
	n      int
	events []Event
	attrs  []uint64
	start  []int16   // first event of each thread, and n
	init   []int16   // initial write of each location, -1 if it is not accessed
	writes [][]int16 // of each location: initial write first, then in order
	reads  []int16
	scs    []int16 // fence.sc events
	bars   bool
	// divided: some access has several parts.
	divided bool
	bar     rel.Rel // syncbar of the chosen phases, nil if there are no barriers
	// orders are those in time of what happens at barriers, by number of their phasing; inTime is that of the chosen one, nil without.
	orders []rel.Rel
	inTime rel.Rel
	async  [][2]int16
	syncs  bool    // there are events of kind Sync
	mb     rel.Rel // syncmb of the chosen phases, nil without
}

// load makes g the graph of the paths. used says which locations any path of the test accesses.
func (g *graph) load(p *Program, paths []*Path, used []bool) {
	g.p, g.paths, g.divided = p, paths, len(p.cells) > len(p.locs) || p.Test.Extended()
	g.events, g.attrs, g.start = g.events[:0], g.attrs[:0], g.start[:0]
	g.reads, g.scs, g.init, g.bars = g.reads[:0], g.scs[:0], g.init[:0], false
	for len(g.writes) < len(p.cells) {
		g.writes = append(g.writes, nil)
	}
	g.writes = g.writes[:len(p.cells)]
	for l := range p.cells {
		g.writes[l] = g.writes[l][:0]
		g.init = append(g.init, -1)
		if !used[l] {
			continue
		}
		e := Event{Kind: Write, Thread: -1, Instr: -1, Loc: int16(l), VLoc: int16(l), Proxy: litmus.ProxyGeneric,
			Partner: -1, Op: -1, val: constant(p.init(l))}
		e.global = int16(len(g.events))
		g.init[l] = e.global
		g.writes[l] = append(g.writes[l], e.global)
		g.events = append(g.events, e)
		g.attrs = append(g.attrs, aW|aM|aIW|aGEN|spaceAttr(p.space(int16(l))))
	}
	g.async, g.syncs, g.mb, g.inTime = g.async[:0], false, nil, nil
	for _, path := range paths {
		first := len(g.events)
		for _, p := range path.async {
			g.async = append(g.async, [2]int16{int16(first) + p[0], int16(first) + p[1]})
		}
		g.start = append(g.start, int16(first))
		for i := range path.Events {
			g.add(&path.Events[i], first)
		}
	}
	g.n = len(g.events)
	g.start = append(g.start, int16(g.n))
}

func (g *graph) add(src *Event, first int) {
	e := *src
	e.global = int16(len(g.events))
	if e.Partner >= 0 {
		e.Partner += int16(first)
	}
	switch e.Kind {
	case Write:
		g.writes[e.Loc] = append(g.writes[e.Loc], e.global)
	case Read:
		g.reads = append(g.reads, e.global)
	case Fence:
		if e.Sem == litmus.SemSC {
			g.scs = append(g.scs, e.global)
		}
	case Barrier:
		g.bars = true
	case Sync:
		g.syncs = true
	}
	g.events = append(g.events, e)
	g.attrs = append(g.attrs, g.p.attrsOf(&e))
}

// Attributes are the sets an event is in.
const (
	aW uint64 = 1 << iota
	aR
	aM
	aF
	aIW
	aB
	aRMW
	aWEAK
	aRLX
	aACQ
	aREL
	aACQREL
	aSC
	aCTA
	aCLUSTER
	aGPU
	aSYS
	aGEN
	aSUR
	aTEX
	aCON
	aALIAS
	aGLOBAL
	aSHARED
	aVOLATILE
	aRED
	aMEMBAR
	aARRIVE
	aCA
	aCG
	aCS
	aLU
	aCV
	aWB
	aWT
	aASY
	aMB
	aHANDS
	aTAKES
	aPASS
)

// setAttrs names the sets that the engine offers to models.
var setAttrs = []struct {
	name string
	attr uint64
}{
	{"W", aW}, {"R", aR}, {"M", aM}, {"F", aF}, {"IW", aIW}, {"B", aB}, {"RMW", aRMW},
	{"WEAK", aWEAK}, {"RLX", aRLX}, {"ACQ", aACQ}, {"REL", aREL}, {"ACQ_REL", aACQREL}, {"SC", aSC},
	{"CTA", aCTA}, {"CLUSTER", aCLUSTER}, {"GPU", aGPU}, {"SYS", aSYS},
	{"GEN", aGEN}, {"SUR", aSUR}, {"TEX", aTEX}, {"CON", aCON}, {"ALIAS", aALIAS},
	{"GLOBAL", aGLOBAL}, {"Global", aGLOBAL}, {"SHARED", aSHARED}, {"Shared", aSHARED},
	{"VOLATILE", aVOLATILE}, {"RED", aRED}, {"MEMBAR", aMEMBAR}, {"ARRIVE", aARRIVE},
	{"ASY", aASY}, {"MB", aMB}, {"HANDS", aHANDS}, {"TAKES", aTAKES}, {"PASS", aPASS}, {"CA", aCA}, {"CG", aCG}, {"CS", aCS}, {"LU", aLU}, {"CV", aCV}, {"WB", aWB}, {"WT", aWT},
}

var semAttr = [...]uint64{
	litmus.SemNone: 0, litmus.SemWeak: aWEAK, litmus.SemVolatile: aRLX, litmus.SemMMIO: aRLX, litmus.SemRelaxed: aRLX,
	litmus.SemAcquire: aACQ, litmus.SemRelease: aREL, litmus.SemAcqRel: aACQREL,
	// A fence.sc also orders as fence.acq_rel does.
	litmus.SemSC: aSC | aACQREL,
}

var scopeAttr = [...]uint64{litmus.ScopeNone: 0, litmus.ScopeCTA: aCTA, litmus.ScopeCluster: aCLUSTER,
	litmus.ScopeGPU: aGPU, litmus.ScopeSys: aSYS}

var proxyAttr = [...]uint64{
	litmus.ProxyNone: 0, litmus.ProxyGeneric: aGEN, litmus.ProxyTexture: aTEX, litmus.ProxySurface: aSUR,
	litmus.ProxyConstant: aCON, litmus.ProxyAlias: aALIAS,
}

var cacheAttr = [...]uint64{0, aCA, aCG, aCS, aLU, aCV, aWB, aWT}

func spaceAttr(s litmus.Space) uint64 {
	if s == litmus.Shared {
		return aSHARED
	}
	return aGLOBAL
}

func (p *Program) attrsOf(e *Event) uint64 {
	var a uint64
	switch e.Kind {
	case Barrier:
		if a = aB | aCTA | aGEN; e.Arrive {
			a |= aARRIVE
		}
		return a
	case Issue:
		return 0
	case Sync:
		a = aMB
	case Fence:
		if a = aF; e.Membar {
			a |= aMEMBAR
		}
	case Read:
		a = aR | aM | spaceAttr(p.space(e.Loc))
	case Write:
		a = aW | aM | spaceAttr(p.space(e.Loc))
	}
	if e.Partner >= 0 {
		a |= aRMW
	}
	if e.Async {
		a |= aASY
	}
	if e.Passes {
		a |= aPASS
	}
	switch e.OneWay {
	case litmus.SemRelease:
		a |= aHANDS
	case litmus.SemAcquire:
		a |= aTAKES
	}
	if e.Red {
		a |= aRED
	}
	if e.Volatile {
		a |= aVOLATILE
	}
	if e.SC {
		a |= aSC
	}
	return a | semAttr[e.Sem] | scopeAttr[e.Scope] | proxyAttr[e.Proxy] | cacheAttr[e.Cache]
}

// place returns an event's thread's place; initial writes have none.
func (g *graph) place(e int) (litmus.Place, bool) {
	t := g.events[e].Thread
	if t < 0 {
		return litmus.Place{}, false
	}
	return g.p.threads[t].place, true
}
