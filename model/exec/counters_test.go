package exec

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/rel"
)

// counters is a machine of mbarriers and barriers of clusters: operations happen one after the other, an mbarrier counts, and a wait is
// answered by what it counts then. It shares nothing with the phaser, which assigns phases and asks afterwards.
type counters struct {
	g      *graph
	before rel.Rel // program order and the orders of asynchronous operations, closed
	events []int   // of kind Sync, and issues of arrivals that their phase waits for
	issued map[int]int
	found  map[string]bool
}

// counting is a state.
type counting struct {
	done    map[int]bool
	objects map[int16]*object
	in      map[int]int // phase in which an arrival happened
	sync    [][2]int
}

// object is an mbarrier: phases counts those that are complete.
type object struct {
	phases                   int
	pending, expected, bytes int64
	ops                      [][]int // of each phase
}

func (s *counting) clone() *counting {
	c := &counting{done: maps.Clone(s.done), in: maps.Clone(s.in), sync: slices.Clone(s.sync), objects: map[int16]*object{}}
	for k, o := range s.objects {
		n := *o
		n.ops = nil
		for _, list := range o.ops {
			n.ops = append(n.ops, slices.Clone(list))
		}
		c.objects[k] = &n
	}
	return c
}

// steps lets every operation happen that can.
func (m *counters) steps(s *counting) {
	if len(s.done) == len(m.events) {
		slices.SortFunc(s.sync, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		m.found[fmt.Sprint(slices.Compact(s.sync))] = true
		return
	}
	for _, e := range m.events {
		if s.done[e] || slices.ContainsFunc(m.events, func(a int) bool { return !s.done[a] && m.before.Has(a, e) }) {
			continue
		}
		if n := s.clone(); m.happens(n, e) {
			n.done[e] = true
			m.steps(n)
		}
	}
}

// happens performs an operation, if it can be performed now.
func (m *counters) happens(s *counting, e int) bool {
	ev := &m.g.events[e]
	if a, ok := m.issued[e]; ok { // one arrival more is awaited from here on
		m.object(s, &m.g.events[a]).pending++
		return true
	}
	switch ev.Role {
	case ClusterArrive:
		return true
	case ClusterWait:
		return m.cluster(s, e)
	}
	o := m.object(s, ev)
	if ev.Role == MbWait {
		return m.wait(s, o, e)
	}
	count := ev.Count
	if ev.Pending() {
		count++
	}
	if o.pending < count {
		return false // too many arrivals
	}
	s.in[e] = o.phases
	o.ops[o.phases] = append(o.ops[o.phases], e)
	o.pending, o.bytes = o.pending-count, o.bytes+ev.Bytes
	if ev.Drop {
		o.expected -= ev.Count
	}
	for o.pending == 0 && o.bytes == 0 {
		o.phases, o.pending, o.ops = o.phases+1, o.expected, append(o.ops, nil)
		if o.expected == 0 {
			break
		}
	}
	return true
}

// object is the mbarrier of an operation.
func (m *counters) object(s *counting, ev *Event) *object {
	o := s.objects[ev.Obj]
	if o == nil {
		n := m.g.p.locs[ev.Obj].init
		o = &object{pending: n, expected: n, ops: [][]int{nil}}
		s.objects[ev.Obj] = o
	}
	return o
}

// wait is answered with yes: the phase of its token is complete, or the last that is has its parity.
func (m *counters) wait(s *counting, o *object, e int) bool {
	ev := &m.g.events[e]
	phase := o.phases - 1
	if ev.Token >= 0 {
		if phase = s.in[int(m.g.start[ev.Thread])+int(ev.Token)]; phase >= o.phases {
			return false
		}
	} else if (phase+2)%2 != int(ev.Parity) {
		return false
	}
	if phase >= 0 {
		for _, a := range o.ops[phase] {
			s.sync = append(s.sync, [2]int{a, e})
		}
	}
	return true
}

// cluster is the k-th wait of a thread, for the k-th arrivals of its cluster.
func (m *counters) cluster(s *counting, e int) bool {
	g := m.g
	count := func(t, until int, r Role) (list []int) {
		for i := int(g.start[t]); i < min(until, int(g.start[t+1])); i++ {
			if g.events[i].Role == r {
				list = append(list, i)
			}
		}
		return list
	}
	t := int(g.events[e].Thread)
	k := len(count(t, e, ClusterWait))
	for u := range g.paths {
		if !g.p.threads[t].place.SameScope(g.p.threads[u].place, litmus.ScopeCluster) {
			continue
		}
		list := count(u, g.n, ClusterArrive)
		if k >= len(list) || !s.done[list[k]] {
			return false
		}
		s.sync = append(s.sync, [2]int{list[k], e})
	}
	return true
}

// counted compares both on each way through a test, and returns how many there are, and in how many both are the same.
func counted(t *testing.T, x *litmus.Test) (ways, same, synchronised int) {
	p, err := Compile(x)
	require.NoError(t, err)
	p = p.split()
	list, _, err := p.paths(&Options{Unroll: 2}, &pathMem{}, p.mayWait())
	require.NoError(t, err)
	used := slices.Repeat([]bool{true}, len(p.cells))
	var pick func(chosen []*Path)
	pick = func(chosen []*Path) {
		if len(chosen) < len(list) {
			for _, path := range list[len(chosen)] {
				if path.Fault == "" && !path.Cut && !path.Waits {
					pick(append(chosen[:len(chosen):len(chosen)], path))
				}
			}
			return
		}
		var g graph
		if g.load(p, chosen, used); !g.syncs {
			return
		}
		want, ok := g.synchronisations()
		if !ok {
			return // too many ways: no verdict
		}
		phases := map[string]bool{}
		for _, r := range want {
			var pairs [][2]int
			for i := range g.n {
				for j := range g.n {
					if r.Has(i, j) {
						pairs = append(pairs, [2]int{i, j})
					}
				}
			}
			phases[fmt.Sprint(pairs)] = true
		}
		m := newCounters(&g)
		m.steps(&counting{done: map[int]bool{}, objects: map[int16]*object{}, in: map[int]int{}})
		ways, synchronised = ways+1, synchronised+len(m.found)
		if maps.Equal(phases, m.found) {
			same++
		}
		for k := range m.found {
			require.True(t, phases[k], "%s: %s is forbidden: phases %v; counters %v\n%s", x.Name, k, slices.Sorted(maps.Keys(phases)), slices.Sorted(maps.Keys(m.found)), x)
		}
	}
	pick(nil)
	return ways, same, synchronised
}

// newCounters closes the orders of a graph.
func newCounters(g *graph) *counters {
	m := &counters{g: g, before: rel.NewRel(g.n), issued: map[int]int{}, found: map[string]bool{}}
	g.po(m.before)
	for _, o := range g.async {
		m.before.Add(int(o[0]), int(o[1]))
		if g.events[o[0]].Kind == Issue && g.events[o[1]].Pending() {
			m.issued[int(o[0])] = int(o[1])
		}
	}
	for k := range g.n {
		for i := range g.n {
			for j := range g.n {
				if m.before.Has(i, k) && m.before.Has(k, j) {
					m.before.Add(i, j)
				}
			}
		}
	}
	for e := range g.events {
		if _, ok := m.issued[e]; ok || g.events[e].Kind == Sync {
			m.events = append(m.events, e)
		}
	}
	return m
}

// TestCounters: on every test of the asynchronous corpus, and on each way through it, the phaser and the machine that counts have the
// same synchronisation.
func TestCounters(t *testing.T) {
	ways, synchronised := 0, 0
	for _, x := range corpus.Async() {
		n, same, k := counted(t, x)
		require.Equal(t, n, same, x.Name)
		ways, synchronised = ways+n, synchronised+k
	}
	t.Logf("%d ways, %d synchronisations", ways, synchronised)
	require.Greater(t, ways, 300)
}

// TestCountersRandom: on tests at random the phaser has all that the machine has. It has more where bytes are reported that nobody
// expects: they may be those of a phase that is complete before. Left out is cp.async.mbarrier.arrive without .noinc: who arrives too
// often may complete a phase by the arrival that it adds, which the phaser takes for an error.
func TestCountersRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(36, 36))
	words := []string{"mbarrier.arrive.shared.b64 t, [b]", "mbarrier.arrive.shared.b64 _, [b]", "mbarrier.test_wait.parity.shared.b64 p, [b], 0",
		"mbarrier.test_wait.parity.shared.b64 p, [b], 1", "mbarrier.arrive.expect_tx.shared.b64 _, [b], 4",
		"mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 4", "mbarrier.arrive_drop.shared.b64 _, [b]",
		"cp.async.mbarrier.arrive.noinc.shared.b64 [b]", "mbarrier.arrive.shared.b64 _, [c]", "mbarrier.test_wait.parity.shared.b64 p, [c], 0",
		"mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 4"}
	ways, alike, synchronised := 0, 0, 0
	for i := range 400 {
		threads, rows := 2+rnd.IntN(2), 1+rnd.IntN(3)
		var b strings.Builder
		fmt.Fprintf(&b, "PTX random-%d\n{ b=%d; c=1; }\n P0@cta 0, gpu 0", i, 1+rnd.IntN(2))
		for th := 1; th < threads; th++ {
			fmt.Fprintf(&b, " | P%d@cta 0, gpu 0", th)
		}
		for range rows {
			b.WriteString(" ;\n ")
			for th := range threads {
				if th > 0 {
					b.WriteString(" | ")
				}
				b.WriteString(words[rnd.IntN(len(words))])
			}
		}
		b.WriteString(" ;\nb: shared, c: shared\nexists (P0:p=1)\n")
		x, err := litmus.Parse("random", []byte(b.String()))
		require.NoError(t, err, b.String())
		n, same, k := counted(t, x)
		ways, alike, synchronised = ways+n, alike+same, synchronised+k
	}
	t.Logf("%d ways, %d of them the same, %d synchronisations", ways, alike, synchronised)
	require.Greater(t, synchronised, 300)
}
