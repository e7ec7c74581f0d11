package hunt

import (
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"optcheck/ptxgen/cycle"
)

// refsPerKey bounds the places that are remembered of one key.
const refsPerKey = 16

// place is an opportunity of a base.
type place struct {
	base int
	o    cycle.Opportunity
}

// key is a pair of an opportunity and the synchronisation that it crosses
// (cycle.Opportunity.Key), and some of the places where it is to be had.
type key struct {
	name   string
	kind   string // of the opportunity
	across string // the synchronisation
	coarse string // the name without scopes
	seen   int    // places in all
	places []place
}

// indexKeys lists the keys of all bases in the order in which they occur first. Of
// the places of a key an even choice is kept.
func indexKeys(bases []Base, r *rand.Rand) []*key {
	by := map[string]*key{}
	var keys []*key
	const window = 256 // bases that are looked at before what was found is sorted in
	for from := 0; from < len(bases); from += window {
		for _, list := range placesOf(bases, from, min(from+window, len(bases))) {
			for _, n := range list {
				k := by[n.key]
				if k == nil {
					k = newKey(n)
					by[k.name] = k
					keys = append(keys, k)
				}
				k.add(n.place, r)
			}
		}
	}
	return keys
}

// placesOf lists the places of some bases, on all cores.
func placesOf(bases []Base, from, to int) [][]named {
	lists := make([][]named, to-from)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lists)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(lists); i = int(next.Add(1)) - 1 {
				lists[i] = namedPlaces(bases, from+i)
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
		list = append(list, named{o.Key(t), place{i, o}})
		return true
	})
	return list
}

func newKey(n named) *key {
	_, across, _ := strings.Cut(n.key, " across ")
	return &key{name: n.key, kind: n.o.Kind, across: across, coarse: coarse(n.key)}
}

// scope matches the scopes in a key.
var scope = regexp.MustCompile(`\.(cta|cluster|gpu|gl|sys)\b`)

// coarse is a key without scopes, and with each kind of synchronisation once.
func coarse(name string) string {
	at, across, _ := strings.Cut(scope.ReplaceAllString(name, ""), " across ")
	words := strings.Fields(across)
	slices.Sort(words)
	return at + " across " + strings.Join(slices.Compact(words), " ")
}

// deal orders keys at random, but so that keys that differ only in scopes are far apart:
// first one of each kind, then a second one, and so on.
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
