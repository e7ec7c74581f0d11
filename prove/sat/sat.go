// Package sat decides whether clauses can all hold: conflict-driven, with a bound of conflicts instead of time, so that the same question
// has the same answer everywhere. What it refutes comes with the clauses that it has learnt, from which Check follows the refutation by
// unit propagation alone.
package sat

// Lit is a literal: twice the number of its variable, plus 1 if it is negated.
type Lit int32

// Not is the opposite.
func (l Lit) Not() Lit { return l ^ 1 }

// Var is the variable.
func (l Lit) Var() int { return int(l >> 1) }

// Answer is what is known of clauses.
type Answer int8

// The answers.
const (
	Unknown Answer = iota
	Satisfiable
	Unsatisfiable
)

type clause struct {
	lits   []Lit
	learnt bool
}

type solver struct {
	clauses []*clause
	watches [][]*clause // by literal: clauses in which its opposite is watched
	value   []int8      // by variable: 0 open, 1 true, -1 false
	level   []int32
	reason  []*clause
	phase   []bool
	trail   []Lit
	marks   []int // of levels in the trail
	head    int
	score   []float64
	step    float64
	heap    heap
	seen    []bool
	learnt  [][]Lit
	broken  bool
	effort  *int
}

func (s *solver) of(l Lit) int8 {
	if v := s.value[l.Var()]; l&1 == 1 {
		return -v
	} else {
		return v
	}
}

// Solve looks for values of n variables with which all clauses hold, with at most so many conflicts and looks at clauses, of which effort is what is left.
// It returns the values, and the clauses that were learnt: until none were left, if they cannot all hold.
func Solve(n int, clauses [][]Lit, conflicts int, effort *int) (a Answer, model []bool, learnt [][]Lit) {
	s := &solver{watches: make([][]*clause, 2*n), value: make([]int8, n), level: make([]int32, n), reason: make([]*clause, n),
		phase: make([]bool, n), score: make([]float64, n), seen: make([]bool, n), step: 1, effort: effort}
	s.heap = newHeap(s.score)
	s.begin(clauses)
	if s.broken || s.propagate() != nil {
		return Unsatisfiable, nil, nil
	}
	return s.search(conflicts)
}

// begin takes the clauses that are to hold. What it needs for them is allocated at once: most questions are large, and answered soon.
func (s *solver) begin(clauses [][]Lit) {
	watched, size := make([]int, len(s.watches)), 0
	for _, c := range clauses {
		size += len(c)
		for _, l := range c[:min(len(c), 2)] {
			watched[l.Not()]++
		}
	}
	lists := make([]*clause, 2*len(clauses))
	for l, n := range watched {
		s.watches[l], lists = lists[:0:n], lists[n:]
	}
	own, lits := make([]clause, len(clauses)), make([]Lit, 0, size)
	s.clauses = make([]*clause, 0, len(clauses))
	for i, c := range clauses {
		from := len(lits)
		lits = append(lits, c...)
		own[i].lits = lits[from:len(lits):len(lits)]
		s.add(&own[i])
	}
}

func (s *solver) add(c *clause) {
	switch lits := c.lits; len(lits) {
	case 0:
		s.broken = true
	case 1:
		if s.of(lits[0]) < 0 {
			s.broken = true
		} else if s.of(lits[0]) == 0 {
			s.set(lits[0], nil)
		}
	default:
		s.attach(c)
	}
}

func (s *solver) attach(c *clause) {
	s.clauses = append(s.clauses, c)
	for _, l := range c.lits[:2] {
		s.watches[l.Not()] = append(s.watches[l.Not()], c)
	}
}

func (s *solver) set(l Lit, why *clause) {
	v := l.Var()
	s.value[v] = 1 - int8(l&1)*2
	s.level[v], s.reason[v] = int32(len(s.marks)), why
	s.trail = append(s.trail, l)
}

// propagate follows unit clauses; it returns one that is violated.
func (s *solver) propagate() *clause {
	for s.head < len(s.trail) {
		p := s.trail[s.head]
		s.head++
		list := s.watches[p]
		*s.effort -= len(list)
		kept := list[:0]
		for i, c := range list {
			if c.lits[0] == p.Not() {
				c.lits[0], c.lits[1] = c.lits[1], c.lits[0]
			}
			if s.of(c.lits[0]) > 0 || s.moved(c) {
				if s.of(c.lits[0]) > 0 {
					kept = append(kept, c)
				}
				continue
			}
			kept = append(kept, c)
			if s.of(c.lits[0]) < 0 {
				s.watches[p] = append(kept, list[i+1:]...)
				return c
			}
			s.set(c.lits[0], c)
		}
		s.watches[p] = kept
	}
	return nil
}

// moved finds another literal to watch in a clause whose second one is false.
func (s *solver) moved(c *clause) bool {
	for k := 2; k < len(c.lits); k++ {
		if s.of(c.lits[k]) >= 0 {
			c.lits[1], c.lits[k] = c.lits[k], c.lits[1]
			w := c.lits[1].Not()
			s.watches[w] = append(s.watches[w], c)
			return true
		}
	}
	return false
}

func (s *solver) search(most int) (Answer, []bool, [][]Lit) {
	rest := 0
	for n := 0; ; {
		c := s.propagate()
		if c == nil {
			if rest > 0 && n >= rest {
				s.back(0)
				rest = 0
			}
			if rest == 0 {
				rest = n + 64*luby(n/64)
			}
			v := s.next()
			if v < 0 {
				out := make([]bool, len(s.value))
				for i, x := range s.value {
					out[i] = x > 0
				}
				return Satisfiable, out, s.learnt
			}
			s.marks = append(s.marks, len(s.trail))
			l := Lit(2 * v)
			if !s.phase[v] {
				l++
			}
			s.set(l, nil)
			continue
		}
		if n++; len(s.marks) == 0 {
			return Unsatisfiable, nil, s.learnt
		} else if n > most || *s.effort < 0 {
			return Unknown, nil, s.learnt
		}
		lits, level := s.analyse(c)
		s.learnt = append(s.learnt, lits)
		s.back(level)
		if len(lits) == 1 {
			s.set(lits[0], nil)
		} else {
			k := &clause{lits: append([]Lit(nil), lits...), learnt: true}
			s.attach(k)
			s.set(lits[0], k)
		}
		s.step /= 0.95
	}
}

// luby is a number of the sequence by Luby and others: when to begin again.
func luby(i int) int {
	size, seq := 1, 0
	for size < i+1 {
		seq++
		size = 2*size + 1
	}
	for size-1 != i {
		size = (size - 1) / 2
		seq--
		i %= size
	}
	return 1 << seq
}

func (s *solver) next() int {
	for {
		v := s.heap.pop()
		if v < 0 || s.value[v] == 0 {
			return v
		}
	}
}

// analyse makes the clause of the first unique implication point; its second literal is of the level to go back to.
func (s *solver) analyse(c *clause) (lits []Lit, level int) {
	lits = []Lit{0}
	open, at := 0, len(s.trail)-1
	var p Lit = -1
	now := int32(len(s.marks))
	var touched []int
	for {
		for _, q := range c.lits {
			v := q.Var()
			if q == p || s.seen[v] || s.level[v] == 0 {
				continue
			}
			s.seen[v] = true
			touched = append(touched, v)
			s.bump(v)
			if s.level[v] == now {
				open++
			} else {
				lits = append(lits, q)
			}
		}
		for !s.seen[s.trail[at].Var()] {
			at--
		}
		p = s.trail[at]
		c = s.reason[p.Var()]
		at--
		if open--; open == 0 {
			break
		}
	}
	lits[0] = p.Not()
	most := 1
	for i, l := range lits[1:] {
		if lv := int(s.level[l.Var()]); lv > level {
			level, most = lv, i+1
		}
	}
	if len(lits) > 1 {
		lits[1], lits[most] = lits[most], lits[1]
	}
	for _, v := range touched {
		s.seen[v] = false
	}
	return lits, level
}

func (s *solver) bump(v int) {
	if s.score[v] += s.step; s.score[v] > 1e100 {
		for i := range s.score {
			s.score[i] *= 1e-100
		}
		s.step *= 1e-100
	}
	s.heap.raise(v)
}

// back takes decisions back until so many are left.
func (s *solver) back(level int) {
	if level >= len(s.marks) {
		return
	}
	for _, l := range s.trail[s.marks[level]:] {
		v := l.Var()
		s.phase[v], s.value[v], s.reason[v] = s.value[v] > 0, 0, nil
		s.heap.push(v)
	}
	s.trail = s.trail[:s.marks[level]]
	s.marks, s.head = s.marks[:level], len(s.trail)
}
