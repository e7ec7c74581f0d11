package cycle

import (
	"fmt"
	"sort"
	"strings"

	"optcheck/litmus"
)

// Dir is the direction of an access: what it does to its location.
type Dir uint8

// The directions. A write may be performed by an atomic; a read may, too, if
// it writes back what it read.
const (
	Read Dir = iota
	Write
)

// String returns R or W.
func (d Dir) String() string { return "RW"[d : d+1] }

// Kind is what an edge is.
type Kind uint8

// The kinds of edge.
const (
	Po         Kind = iota // program order and nothing else
	Fence                  // a fence between the accesses
	Bar                    // a barrier of the CTA between the accesses
	Addr                   // an address dependency
	Data                   // a data dependency
	Ctrl                   // a control dependency, with or without a fence after the branch
	BarRed                 // a bar.red
	BarWarp                // a bar.warp.sync of the threads of a warp
	Mbar                   // an arrival at an mbarrier of the CTA, and a wait for its phase
	Cluster                // a barrier of the cluster
	ProxyAsync             // fence.proxy.async
	Rf                     // a write to a read that takes its value
	Fr                     // a read to a write that overwrites what it read
	Co                     // a write to a write that overwrites it
)

// Edge is one edge of a cycle, from one access to the next.
type Edge struct {
	Kind     Kind
	Ext      bool // Rf, Fr, Co: between threads
	Same     bool // both ends access one location; always so for Rf, Fr, Co
	Src, Dst Dir
	// Op, Sem and Scope name the fence of Fence, and of Ctrl with one:
	// OpMembar with a scope, or OpFence with both.
	Op    litmus.Op
	Sem   litmus.Sem
	Scope litmus.Scope
}

// Com reports whether the edge is a communication: Rf, Fr or Co.
func (e Edge) Com() bool { return e.Kind >= Rf }

// code orders edges and is different for different edges.
func (e Edge) code() uint32 {
	c := uint32(e.Kind)
	for _, f := range [...]struct {
		v    uint32
		bits int
	}{{uint32(e.Op), 5}, {uint32(e.Sem), 4}, {uint32(e.Scope), 3}, {bit(e.Ext), 1}, {bit(e.Same), 1}, {uint32(e.Src), 1}, {uint32(e.Dst), 1}} {
		c = c<<f.bits | f.v
	}
	return c
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func membar(s litmus.Scope) Edge { return Edge{Kind: Fence, Op: litmus.OpMembar, Scope: s} }

// fences lists the fences by the name that PTX gives them.
var fences = func() map[string]Edge {
	m := map[string]Edge{"membar.cta": membar(litmus.ScopeCTA), "membar.gl": membar(litmus.ScopeGPU), "membar.sys": membar(litmus.ScopeSys)}
	for sem, s := range map[string]litmus.Sem{"sc": litmus.SemSC, "acq_rel": litmus.SemAcqRel, "acquire": litmus.SemAcquire,
		"release": litmus.SemRelease} {
		for _, sc := range scopes {
			m["fence."+sem+"."+sc.String()] = Edge{Kind: Fence, Op: litmus.OpFence, Sem: s, Scope: sc}
		}
	}
	return m
}()

var scopes = []litmus.Scope{litmus.ScopeCTA, litmus.ScopeCluster, litmus.ScopeGPU, litmus.ScopeSys}

// fence returns the name of the edge's fence, "" if it has none.
func (e Edge) fence() string {
	switch e.Op {
	case litmus.OpMembar:
		if e.Scope == litmus.ScopeGPU {
			return "membar.gl"
		}
		return "membar." + e.Scope.String()
	case litmus.OpFence:
		return "fence." + e.Sem.String() + "." + e.Scope.String()
	}
	return ""
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

var comNames = map[Kind]string{Rf: "Rf", Fr: "Fr", Co: "Co"}
var depNames = map[Kind]string{Addr: "DpAddr", Data: "DpData", Ctrl: "DpCtrl"}

// String spells the edge as ParseEdge reads it.
func (e Edge) String() string {
	if e.Com() {
		if e.Ext {
			return comNames[e.Kind] + "e"
		}
		return comNames[e.Kind] + "i"
	}
	loc := "d"
	if e.Same {
		loc = "s"
	}
	switch e.Kind {
	case Fence:
		return capital(e.fence()) + loc + e.Src.String() + e.Dst.String()
	case Bar:
		return "Bar" + loc + e.Src.String() + e.Dst.String()
	case BarRed, BarWarp, Mbar, Cluster, ProxyAsync:
		return meetNames[e.Kind] + loc + e.Src.String() + e.Dst.String()
	case Addr, Data, Ctrl:
		return depNames[e.Kind] + capital(e.fence()) + loc + e.Dst.String()
	}
	return "Po" + loc + e.Src.String() + e.Dst.String()
}

// ParseEdge reads one edge. Directions may be given as *, for which it returns
// every edge that is meant, in a fixed order:
//
//	Rfe Rfi Fre Fri Coe Coi        communication, between threads or within one
//	                               (Wse and Wsi are read as Coe and Coi)
//	PodWR PosRR Pod**              program order; d other, s same location
//	Membar.gldWW Fence.sc.gpudWR   a fence: membar.{cta,gl,sys},
//	                               fence.{sc,acq_rel,acquire,release}.{cta,cluster,gpu,sys}
//	BardWR                         bar.sync
//	BarReddWR BarWarpdWR           bar.red, bar.warp.sync
//	MbardWR ClusterdWR             an mbarrier of the CTA, a barrier of the cluster
//	ProxyAsyncdWR                  fence.proxy.async
//	DpAddrdR DpDatadW DpCtrldW     dependencies, which start in a read
//	DpCtrlMembar.gldR              a branch with a fence after it
func ParseEdge(s string) ([]Edge, error) {
	switch s {
	case "Rfe", "Rfi":
		return []Edge{{Kind: Rf, Ext: s == "Rfe", Same: true, Src: Write, Dst: Read}}, nil
	case "Fre", "Fri":
		return []Edge{{Kind: Fr, Ext: s == "Fre", Same: true, Src: Read, Dst: Write}}, nil
	case "Coe", "Wse", "Coi", "Wsi":
		return []Edge{{Kind: Co, Ext: s[2] == 'e', Same: true, Src: Write, Dst: Write}}, nil
	}
	if name, ok := strings.CutPrefix(s, "Dp"); ok {
		return parseDep(s, name)
	}
	if len(s) < 5 {
		return nil, unknownEdge(s)
	}
	base, loc, dirs := s[:len(s)-3], s[len(s)-3], s[len(s)-2:]
	e := Edge{}
	for kind, name := range meetNames {
		if base == name {
			return expand(s, Edge{Kind: kind}, loc, dirs)
		}
	}
	switch f, ok := fences[strings.ToLower(base[:1])+base[1:]]; {
	case base == "Po":
	case base == "Bar":
		e.Kind = Bar
	case ok && base[0] >= 'A' && base[0] <= 'Z':
		e = f
	default:
		return nil, unknownEdge(s)
	}
	return expand(s, e, loc, dirs)
}

func unknownEdge(s string) error { return fmt.Errorf("unknown edge %q", s) }

func parseDep(s, name string) ([]Edge, error) {
	for kind, n := range depNames {
		rest, ok := strings.CutPrefix(name, n[2:])
		if !ok || len(rest) < 2 {
			continue
		}
		e := Edge{Kind: kind}
		if f := rest[:len(rest)-2]; f != "" {
			fe, ok := fences[strings.ToLower(f[:1])+f[1:]]
			if !ok || kind != Ctrl || f[0] < 'A' || f[0] > 'Z' {
				return nil, unknownEdge(s)
			}
			e.Op, e.Sem, e.Scope = fe.Op, fe.Sem, fe.Scope
		}
		dst := rest[len(rest)-1]
		if kind == Data && dst == 'R' {
			return nil, fmt.Errorf("edge %q: a data dependency ends in a write", s)
		}
		if kind == Data {
			dst = 'W'
		}
		return expand(s, e, rest[len(rest)-2], "R"+string(dst))
	}
	return nil, unknownEdge(s)
}

// expand applies location and directions.
func expand(s string, e Edge, loc byte, dirs string) ([]Edge, error) {
	if loc != 'd' && loc != 's' {
		return nil, unknownEdge(s)
	}
	e.Same = loc == 's'
	var out []Edge
	for _, src := range []Dir{Write, Read} {
		for _, dst := range []Dir{Write, Read} {
			if fits(dirs[0], src) && fits(dirs[1], dst) {
				e.Src, e.Dst = src, dst
				out = append(out, e)
			}
		}
	}
	if out == nil {
		return nil, unknownEdge(s)
	}
	return out, nil
}

func fits(c byte, d Dir) bool { return c == '*' || c == "RW"[d] }

// sortEdges orders edges by code and drops repetitions.
func sortEdges(es []Edge) []Edge {
	sort.Slice(es, func(i, j int) bool { return es[i].code() < es[j].code() })
	out := es[:0]
	for i, e := range es {
		if i == 0 || e != es[i-1] {
			out = append(out, e)
		}
	}
	return out
}
