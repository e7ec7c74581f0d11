package hunt

import (
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
)

// refsPerKey bounds the places that are remembered of one key.
const refsPerKey = 16

// place is an opportunity of a base.
type place struct {
	base int
	o    cycle.Opportunity
}

// key is a pair of an opportunity and the synchronisation that it crosses, or else the fence
// beside it, and some of the places where it is to be had.
type key struct {
	name   string
	kind   string // of the opportunity
	across string // the synchronisation
	coarse string // what is tried first
	seen   int    // places in all
	places []place
}

// index is the keys of bases. Bases are looked at as keys are needed, in a random order
// in which the sources take turns.
type index struct {
	bases []Base
	order []int // of the bases; the first done of them have been looked at
	done  int
	first int // size of the first slice
	by    map[string]*key
	keys  []*key // in the order in which they were found
	rand  *rand.Rand
}

// firstSlice is the number of bases that are looked at before the first test; each
// further slice is as large as all before it.
const firstSlice = 512

func newIndex(bases []Base, r *rand.Rand) *index {
	return &index{bases: bases, order: takeTurns(bases, r), first: firstSlice, by: map[string]*key{}, rand: r}
}

// takeTurns orders bases at random, one of each source after the other.
func takeTurns(bases []Base, r *rand.Rand) (order []int) {
	by := map[string][]int{}
	var sources []string
	for _, i := range r.Perm(len(bases)) {
		s := bases[i].Source
		if by[s] == nil {
			sources = append(sources, s)
		}
		by[s] = append(by[s], i)
	}
	slices.Sort(sources)
	for n := 0; len(order) < len(bases); n++ {
		for _, s := range sources {
			if n < len(by[s]) {
				order = append(order, by[s][n])
			}
		}
	}
	return order
}

// more looks at further bases and returns the keys that none before them had; none
// is left when it returns nil.
func (x *index) more() (fresh []*key) {
	for fresh == nil && x.done < len(x.order) {
		slice := x.order[x.done:min(len(x.order), max(x.first, 2*x.done))]
		x.done += len(slice)
		fresh = x.take(slice)
	}
	x.keys = append(x.keys, fresh...)
	return fresh
}

// take sorts in the places of some bases: of those of a key an even choice is kept.
func (x *index) take(bases []int) (fresh []*key) {
	const window = 256 // bases whose places are in memory at once
	for list := range slices.Chunk(bases, window) {
		for _, places := range placesOf(x.bases, list) {
			for _, n := range places {
				k := x.by[n.key]
				if k == nil {
					k = newKey(n)
					x.by[k.name] = k
					fresh = append(fresh, k)
				}
				k.add(n.place, x.rand)
			}
		}
	}
	return fresh
}

// placesOf lists the places of some bases, on all cores.
func placesOf(bases []Base, which []int) [][]named {
	lists := make([][]named, len(which))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lists)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(lists); i = int(next.Add(1)) - 1 {
				lists[i] = namedPlaces(bases, which[i])
			}
		})
	}
	wg.Wait()
	return lists
}

// named is a place with its key.
type named struct {
	key string
	place
}

func namedPlaces(bases []Base, i int) (list []named) {
	t := bases[i].Test()
	cycle.Opportunities(t, nil, func(o cycle.Opportunity) bool {
		list = append(list, named{nameOf(o, t), place{i, o}})
		return true
	})
	return list
}

// nameOf is cycle.Opportunity.Key, and the fence beside what is added if nothing is crossed.
func nameOf(o cycle.Opportunity, t *litmus.Test) string {
	name := o.Key(t)
	if f := o.Beside(t); f != "" && strings.HasSuffix(name, " across nothing") {
		name += " beside " + f
	}
	return name
}

func newKey(n named) *key {
	_, across, _ := strings.Cut(n.key, " across ")
	return &key{name: n.key, kind: n.o.Kind, across: across, coarse: coarse(n.key)}
}

// scope matches the scopes in a key.
var scope = regexp.MustCompile(`\.(cta|cluster|gpu|gl|sys)\b`)

// coarse is a key without scopes and without the strength of accesses, and with each
// kind of synchronisation once: "reload of ld across fence.acq_rel ld.acquire".
func coarse(name string) string {
	at, across, _ := strings.Cut(scope.ReplaceAllString(name, ""), " across ")
	kind, op, _ := strings.Cut(at, " of ")
	kind, _, _ = strings.Cut(kind, ".")
	op, _, _ = strings.Cut(op, ".")
	words := strings.Fields(across)
	slices.Sort(words)
	return kind + " of " + op + " across " + strings.Join(slices.Compact(words), " ")
}

// deal orders keys at random, but so that keys of one coarse kind are far apart: first
// one of each, then a second one, and so on.
func deal(keys []*key, r *rand.Rand) []*key {
	out := slices.Clone(keys)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	nth, seen := map[*key]int{}, map[string]int{}
	for _, k := range out {
		nth[k] = seen[k.coarse]
		seen[k.coarse]++
	}
	slices.SortStableFunc(out, func(a, b *key) int { return nth[a] - nth[b] })
	return out
}

// add remembers a place: of all that come, each with the same chance.
func (k *key) add(p place, r *rand.Rand) {
	k.seen++
	if len(k.places) < refsPerKey {
		k.places = append(k.places, p)
		return
	}
	if i := r.IntN(k.seen); i < refsPerKey {
		k.places[i] = p
	}
}
