package mutants

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// Alive are the variables by which one mutant of a package is alive while its test binary runs.
type Alive struct {
	Number *int   // of the mutant, 0 for none
	Seen   []bool // mutants that would be something else than the code
	Until  *int64 // when a mutant has had enough time, in nanoseconds; 0 for never
}

// Seeking says how tries are sought. Log and State are files that outlive a mutant that ends the process.
type Seeking struct {
	File, Log, State string
	Seed             uint64
	End              time.Time
	Most             time.Duration // how long a try may take
}

// seeking is what a search knows.
type seeking struct {
	Seeking
	x           *Tries
	a           *Alive
	t           *testing.T
	log, state  *os.File
	dead        []bool
	misses      []int
	yield, cost map[int]float64 // of each cell: mutants that were noticed, and seconds
	reach       map[int][]Try   // of each mutant that nothing has noticed: some tries that ask for it
}

// Seek looks for tries that notice mutants: first among those of the file, then at random, where it paid before, and then by further
// changes of tries that ask for a mutant that nothing has noticed. It logs which try notices which mutant.
func (x *Tries) Seek(t *testing.T, a *Alive, o Seeking) {
	s := &seeking{Seeking: o, x: x, a: a, t: t, dead: make([]bool, len(a.Seen)), misses: make([]int, len(a.Seen)),
		yield: map[int]float64{}, cost: map[int]float64{}, reach: map[int][]Try{}}
	stored, _, err := readTries(o.File)
	require.NoError(t, err)
	done := s.resume()
	for i, y := range stored[min(done, len(stored)):] {
		s.try(y, time.Minute, 0)
		fmt.Fprintln(s.log, "replayed", done+i+1)
	}
	rnd := rand.New(rand.NewPCG(o.Seed, uint64(time.Now().UnixNano())))
	for time.Now().Before(o.End) {
		if y, n := s.further(rnd); n > 0 {
			s.try(y, o.Most, n)
		} else {
			s.try(s.choose(rnd), o.Most, 0)
		}
	}
	for n, times := range s.misses {
		if times > 0 && !s.dead[n] {
			fmt.Fprintln(s.log, "missed", n, times)
		}
	}
	fmt.Fprintln(s.log, "end")
}

// resume reads what an earlier process has found, and which mutant ended it. It returns how many stored tries are done.
func (s *seeking) resume() (done int) {
	open := func(file string) *os.File {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600) //input:allow it is written here, for the next process
		require.NoError(s.t, err)
		return f
	}
	s.log = open(s.Log)
	text, err := input.ReadFile(s.Log, 64<<20)
	require.NoError(s.t, err)
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "kill %d", &n); err == nil {
			s.dead[n] = true
		} else if _, err := fmt.Sscanf(line, "replayed %d", &n); err == nil {
			done = n
		}
	}
	if text, err := input.ReadFile(s.State, 64); err == nil {
		var n int
		if _, err := fmt.Sscan(string(text), &n); err == nil && n > 0 {
			s.dead[n] = true
		}
	}
	s.state, err = os.OpenFile(s.State, os.O_CREATE|os.O_RDWR, 0o600) //input:allow it is written here, for the next process
	require.NoError(s.t, err)
	return done
}

// choose draws a try: of a few, the one of the cell that paid most.
func (s *seeking) choose(rnd *rand.Rand) (y Try) {
	pays := func(cell int) float64 { return (s.yield[cell] + 1) / (s.cost[cell] + 0.5) }
	for i := range 4 {
		if c := rnd.IntN(len(s.x.Sizes)); i == 0 || pays(c) > pays(y.Cell) && s.x.Sizes[c][0] < 300 {
			y.Cell = c
		}
	}
	y.Kernel, y.Seed = rnd.IntN(len(s.x.Sizes[y.Cell])), uint64(rnd.IntN(firstSeeds))
	return y
}

// further draws a mutant that nothing has noticed, and changes a try that asks for it once more; 0 for none.
func (s *seeking) further(rnd *rand.Rand) (y Try, mutant int) {
	if len(s.reach) == 0 || rnd.IntN(4) == 0 {
		return y, 0
	}
	for range 20 {
		if mutant = 1 + rnd.IntN(len(s.dead)-1); len(s.reach[mutant]) > 0 {
			y = s.reach[mutant][rnd.IntN(len(s.reach[mutant]))]
			y.Seed = further(rnd, y.Seed)
			return y, mutant
		}
	}
	return y, 0
}

// asks keeps a few of the tries that ask for a mutant.
func (s *seeking) asks(mutant int, y Try) {
	if list := s.reach[mutant]; len(list) < 8 {
		s.reach[mutant] = append(list, y)
	} else if rand.IntN(8) == 0 {
		list[rand.IntN(len(list))] = y
	}
}

// try runs a try with each mutant that it asks for and that nothing has noticed yet. Those that were missed often are left out more and
// more often, but for a wanted one.
func (s *seeking) try(y Try, most time.Duration, wanted int) {
	begin := time.Now()
	clear(s.a.Seen)
	base, ok := s.run(y, 0, time.Second)
	took := time.Since(begin)
	if !ok || took > most {
		return
	}
	for n, seen := range slices.Clone(s.a.Seen) {
		if !seen || s.dead[n] {
			continue
		}
		s.asks(n, y)
		if n != wanted && s.misses[n] > 20 && rand.IntN(s.misses[n]) > 10 {
			continue
		}
		if is, ok := s.run(y, n, 10*took+100*time.Millisecond); ok && is == base {
			s.misses[n]++
			continue
		}
		if is, ok := s.run(y, 0, time.Second); !ok || is != base {
			return // a mutant has left something behind
		}
		s.dead[n] = true
		delete(s.reach, n)
		s.yield[y.Cell]++
		fmt.Fprintln(s.log, "kill", n, y.Cell, y.Kernel, y.Seed)
	}
	s.cost[y.Cell] += time.Since(begin).Seconds()
}

// run says what is said of a try with a mutant; ok is false if it panics or takes too long.
func (s *seeking) run(y Try, mutant int, limit time.Duration) (h uint32, ok bool) {
	mark := func(n int) { _, _ = s.state.WriteAt(fmt.Appendf(nil, "%8d", n), 0) }
	defer func() {
		if r := recover(); r != nil {
			ok = false
		}
		*s.a.Number, *s.a.Until = 0, 0
		if mutant > 0 {
			mark(0)
		}
		if s.x.Fresh != nil && (mutant > 0 || !ok) {
			s.x.Fresh()
		}
	}()
	if mutant > 0 {
		mark(mutant)
	}
	*s.a.Number, *s.a.Until = mutant, time.Now().Add(limit).UnixNano()
	return s.x.hash(s.t, y), true
}
